//! An entry of `operators`: its name, its inputs, and what exactly one of `window`, `join`, `process` and `map` says it does.

use super::{component, join, windowed};
use crate::error::PipelineError;
use crate::model::{OperatorSpec, Process};
use crate::nearest::list;
use crate::place::{Object, Place};

/// The keys of an entry.
pub(crate) const KEYS: [&str; 12] = [
    "name",
    "input",
    "key_by",
    "dedup",
    "window",
    "trigger",
    "accumulation",
    "aggregate",
    "late_side_output",
    "join",
    "process",
    "map",
];
/// The keys that say what an operator does, and what that is.
pub(crate) const KINDS: [(&str, Kind); 4] =
    [("window", Kind::Window), ("join", Kind::Join), ("process", Kind::Process), ("map", Kind::Map)];

/// What an operator does, without what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Window,
    Join,
    Process,
    Map,
}

impl Kind {
    /// The keys that belong to the kind, besides `name`.
    pub(crate) fn keys(self) -> Vec<&'static str> {
        match self {
            Self::Window => ["input"].iter().chain(&windowed::KEYS).copied().collect(),
            Self::Join => vec!["join"],
            Self::Process => vec!["input", "key_by", "process"],
            Self::Map => vec!["input", "map"],
        }
    }

    const fn plural(self) -> &'static str {
        match self {
            Self::Window => "window operators",
            Self::Join => "joins",
            Self::Process => "process hooks",
            Self::Map => "map hooks, which see every row by itself",
        }
    }

    /// The operators, or the places, that a key belongs to instead.
    fn belongs(self, key: &str) -> &'static str {
        match (self, key) {
            (Self::Join, "input" | "key_by") => "`join.left` and `join.right`, which name an input and its key each",
            (Self::Join, "late_side_output") => "`join.late_side_output`",
            (_, "key_by") => "an operator with `window` or `process`",
            _ => "an operator with `window`",
        }
    }
}

/// An operator before its inputs are found.
pub(super) struct Draft<'a> {
    pub(super) name: String,
    /// Where its name stands.
    pub(super) name_place: Place<'a>,
    /// Where its inputs are named: one, or a join's left and right.
    pub(super) inputs: Vec<Place<'a>>,
    pub(super) kind: OperatorSpec,
}

pub(super) fn decode<'a>(place: &Place<'a>) -> Result<Draft<'a>, PipelineError> {
    let object = place.object("an operator", &KEYS)?;
    let name_place = object.require("name", "name the operator, such as `name: per_minute`")?;
    let name = name_place.name("an operator's name")?;
    let kind = kind(&object)?;
    let keys: Vec<&str> = ["name"].into_iter().chain(kind.keys()).collect();
    object.only(&keys, kind.plural(), |key| kind.belongs(key))?;
    if kind == Kind::Join {
        let place = object.require("join", "say what is joined")?;
        let (join, inputs) = join::decode(&place, &name)?;
        return Ok(Draft { name, name_place, inputs, kind: OperatorSpec::Join(join) });
    }
    let input = object.require("input", "name the source or the operator that it reads")?;
    let hook = |key: &str| component::hook(&object.require(key, "name a component")?, &name);
    let kind = match kind {
        Kind::Process => OperatorSpec::Process(Process { key_by: windowed::key_by(&object)?, hook: hook("process")? }),
        Kind::Map => OperatorSpec::Map(hook("map")?),
        Kind::Window | Kind::Join => OperatorSpec::Window(windowed::decode(&object, Some(&name))?),
    };
    Ok(Draft { name, name_place, inputs: vec![input], kind })
}

/// What the operator does: the one key of [`KINDS`] that it has.
fn kind(object: &Object<'_>) -> Result<Kind, PipelineError> {
    let mut given = KINDS.iter().filter(|(key, _)| object.has(key));
    let words = KINDS.map(|(key, _)| key);
    match (given.next(), given.next()) {
        (Some((_, kind)), None) => Ok(*kind),
        (Some((first, _)), Some((second, _))) => {
            let reason = format!(
                "`{first}` and `{second}` are two operators; give each an entry of its own, the second with the first as \
                 its `input`"
            );
            Err(object.refuse_at(second, reason))
        }
        (None, _) if windowed::KEYS.iter().any(|key| *key != "key_by" && object.has(key)) => {
            let mend = "`window` is missing; choose windows, such as `window: {type: tumbling, size: 1m}`";
            Err(object.refuse_at("window", mend))
        }
        (None, _) => {
            let reason = format!("nothing says what the operator does; give it exactly one of {}", list(&words));
            Err(object.place.refuse(reason))
        }
    }
}
