//! The pipeline file, read as it is asked for. Pipelines here are valid, so a mistake in one is a panic.

use crate::json::Value;
use crate::time::{Time, read_duration};

pub(super) struct Pipeline(pub(super) Value);

/// What fires a window before or after its on-time pane.
pub(super) enum Trigger {
    /// `every N elements`; `every_element` is `N = 1`.
    Elements(usize),
    ProcessingTime(Time),
    None,
}

pub(super) struct Aggregate {
    pub(super) name: String,
    pub(super) function: String,
    pub(super) field: Option<String>,
    pub(super) only: Option<(String, Value)>,
    pub(super) k: usize,
}

impl Pipeline {
    pub(super) fn text(&self, path: &str) -> &str {
        self.0.at(path).as_str().unwrap_or("")
    }

    pub(super) fn duration(&self, path: &str) -> Option<Time> {
        self.0.at(path).as_str().map(read_duration)
    }

    pub(super) fn required(&self, path: &str) -> Time {
        self.duration(path).unwrap_or_else(|| panic!("{path} is required"))
    }

    /// "Defaults: `early` none; … `late` every_element; `accumulation` accumulating; `allowed_lateness` 0."
    pub(super) fn lateness(&self) -> Time {
        self.duration("window.allowed_lateness").unwrap_or(0)
    }

    pub(super) fn trigger(&self, early: bool) -> Trigger {
        let (path, default) = if early { ("trigger.early", "none") } else { ("trigger.late", "every_element") };
        match self.0.at(path).as_str().unwrap_or(default).split(' ').collect::<Vec<_>>()[..] {
            ["none"] => Trigger::None,
            ["every_element"] => Trigger::Elements(1),
            ["every", n, "elements"] => Trigger::Elements(n.parse().expect("a count")),
            ["every", duration, "processing_time"] => Trigger::ProcessingTime(read_duration(duration)),
            _ => panic!("no trigger at {path}"),
        }
    }

    pub(super) fn key_of(&self, row: &Value) -> Vec<Value> {
        self.0.get("key_by").items().iter().map(|field| row.get(field.as_str().expect("a field")).clone()).collect()
    }

    pub(super) fn aggregates(&self) -> Vec<Aggregate> {
        self.0.get("aggregate").members().map(|(name, spec)| Aggregate::new(name, spec)).collect()
    }
}

impl Aggregate {
    /// "Every function but `count` takes the field of its own name if none is given", a bare `count` as well.
    fn new(name: &str, spec: &Value) -> Self {
        let bare = spec.as_str();
        let function = bare.or(spec.get("fn").as_str()).expect("an aggregate has a function").to_owned();
        let own_name = (bare.is_some() || function != "count").then_some(name);
        Aggregate {
            name: name.to_owned(),
            field: spec.get("field").as_str().or(own_name).map(str::to_owned),
            only: spec.at("where.field").as_str().map(|f| (f.to_owned(), spec.at("where.equals").clone())),
            k: spec.get("k").as_int().map_or(0, |k| usize::try_from(k).expect("k is positive")),
            function,
        }
    }
}
