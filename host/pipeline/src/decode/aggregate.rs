//! `aggregate`: built-in functions by a bare name or in full, and aggregate hooks.

use super::component;
use crate::error::PipelineError;
use crate::ids;
use crate::model::{Aggregate, Condition, Function};
use crate::nearest::suggestion;
use crate::node::Content;
use crate::path::quoted;
use crate::place::{Object, Place};

/// The keys of a built-in aggregate in full.
pub(crate) const BUILTIN: [&str; 4] = ["fn", "field", "where", "k"];
/// The keys of `where`.
pub(crate) const WHERE: [&str; 2] = ["field", "equals"];
/// The most entries of `aggregate`.
pub(crate) const MAX_AGGREGATES: usize = 1_000;
/// The functions.
pub(crate) const FUNCTIONS: [(&str, FunctionName); 10] = [
    ("count", FunctionName::Plain(Function::Count)),
    ("sum", FunctionName::Plain(Function::Sum)),
    ("min", FunctionName::Plain(Function::Min)),
    ("max", FunctionName::Plain(Function::Max)),
    ("avg", FunctionName::Plain(Function::Avg)),
    ("first", FunctionName::Plain(Function::First)),
    ("last", FunctionName::Plain(Function::Last)),
    ("count_distinct", FunctionName::Plain(Function::CountDistinct)),
    ("approx_count_distinct", FunctionName::Plain(Function::ApproxCountDistinct)),
    ("top_k", FunctionName::TopK),
];

/// A function without what belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FunctionName {
    Plain(Function),
    TopK,
}

/// Decodes the object. `operator`: the name that the ids of hooks begin with; none in the short form.
pub(crate) fn decode(place: &Place<'_>, operator: Option<&str>) -> Result<Vec<Aggregate>, PipelineError> {
    let entries = place.entries("`aggregate`")?;
    if entries.is_empty() {
        return Err(place.refuse("nothing is computed; name at least one aggregate, such as `clicks: count`"));
    }
    if entries.len() > MAX_AGGREGATES {
        let reason = format!("{} aggregates are too many; use at most {MAX_AGGREGATES}", entries.len());
        return Err(place.refuse(reason));
    }
    entries.into_iter().map(|(entry, place)| one(&entry.key, &place, operator)).collect()
}

fn one(name: &str, place: &Place<'_>, operator: Option<&str>) -> Result<Aggregate, PipelineError> {
    if name.is_empty() {
        return Err(place.refuse("an aggregate's name is empty; it becomes the name of the output field"));
    }
    let Content::Map(entries) = &place.node.content else { return bare(name, place) };
    let has = |key: &str| entries.iter().any(|entry| entry.key == key);
    if has("component") && has("fn") {
        return Err(
            place.refuse("this is a built-in function (`fn`) and a hook (`component`) at once; keep one of them")
        );
    }
    if has("component") {
        let hook = component::hook(place, &ids::aggregate(operator, name))?;
        return Ok(Aggregate::Hook { name: name.to_owned(), hook });
    }
    let known: Vec<&str> = BUILTIN.iter().chain(&component::KEYS).copied().collect();
    let object = place.object("an aggregate", &known)?;
    if !has("fn") && (has("uid") || has("config")) {
        return Err(object.refuse_at("component", "`component` is missing; a hook needs it, such as `ad-sketch@2.0.0`"));
    }
    object.only(&BUILTIN, "built-in functions", |_| "a hook (`component`)")?;
    builtin(name, &object)
}

/// `clicks: count`: that function of the field of this name.
fn bare(name: &str, place: &Place<'_>) -> Result<Aggregate, PipelineError> {
    match function_name(place)? {
        FunctionName::Plain(function) => {
            Ok(Aggregate::Builtin { name: name.to_owned(), function, field: Some(name.to_owned()), condition: None })
        }
        FunctionName::TopK => Err(place.refuse("`top_k` needs to know how many; write `{fn: top_k, k: 10}`")),
    }
}

/// `{fn: …, field: …, where: …, k: …}`.
fn builtin(name: &str, object: &Object<'_>) -> Result<Aggregate, PipelineError> {
    let place = object.require("fn", "name the function, such as `fn: sum` (or, for a hook, `component`)")?;
    let k = object.get("k");
    let function = match (function_name(&place)?, k) {
        (FunctionName::TopK, Some(k)) => Function::TopK { k: k.integer_u32("`k`", 1, u32::MAX)? },
        (FunctionName::TopK, None) => {
            return Err(object.refuse_at("k", "`k` is missing; say how many values `top_k` gives, such as `k: 10`"));
        }
        (FunctionName::Plain(_), Some(k)) => return Err(k.refuse("`k` belongs to `top_k` alone; remove it")),
        (FunctionName::Plain(function), None) => function,
    };
    let field = object.get("field").map(|place| place.field()).transpose()?;
    let field = match (function, field) {
        (Function::Count, None) => None,
        (_, None) => Some(name.to_owned()),
        (_, field) => field,
    };
    let condition = object.get("where").map(|place| condition(&place)).transpose()?;
    Ok(Aggregate::Builtin { name: name.to_owned(), function, field, condition })
}

fn function_name(place: &Place<'_>) -> Result<FunctionName, PipelineError> {
    let text = match &place.node.content {
        Content::Text(text) => text,
        _ => {
            let reason = format!(
                "a function's name, `{{fn: …}}` or `{{component: …}}` is needed, and this is {}; write for example `count`",
                place.kind()
            );
            return Err(place.refuse(reason));
        }
    };
    let known: Vec<&str> = FUNCTIONS.iter().map(|(word, _)| *word).collect();
    match FUNCTIONS.iter().find(|(word, _)| word == text) {
        Some((_, function)) => Ok(*function),
        None => {
            let renamed = match text.as_str() {
                "mean" | "average" => "did you mean `avg`?".to_owned(),
                "distinct" => "did you mean `count_distinct`?".to_owned(),
                _ => suggestion(text, &known),
            };
            Err(place.refuse(format!("{} is not known as a function; {renamed}", quoted(text))))
        }
    }
}

fn condition(place: &Place<'_>) -> Result<Condition, PipelineError> {
    let object = place.object("`where`", &WHERE)?;
    let field = object.require("field", "name the field that is looked at")?.field()?;
    let equals = object.require("equals", "give the value that the field must have")?;
    Ok(Condition { field, equals: equals.node.content.to_value() })
}
