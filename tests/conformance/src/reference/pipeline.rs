//! The pipeline file, read as it is asked for. Pipelines here are valid, so a mistake in one is a panic.

use crate::json::Value;
use crate::time::{Time, read_duration};

pub(super) struct Pipeline(pub(super) Value);

impl Pipeline {
    pub(super) fn text(&self, path: &str) -> &str {
        self.0.at(path).as_str().unwrap_or("")
    }

    /// A duration, "0 if not given".
    pub(super) fn duration(&self, path: &str) -> Time {
        self.limit(path).unwrap_or(0)
    }

    /// A duration that may be left out.
    pub(super) fn limit(&self, path: &str) -> Option<Time> {
        self.0.at(path).as_str().map(read_duration)
    }

    /// "The defaults are `early: none` … and `late: every_element`."
    fn trigger(&self, early: bool) -> Vec<&str> {
        let (path, default) = if early { ("trigger.early", "none") } else { ("trigger.late", "every_element") };
        self.0.at(path).as_str().unwrap_or(default).split(' ').collect()
    }

    /// The `N` of "every N elements" before (`early`) or after the on-time pane.
    pub(super) fn elements(&self, early: bool) -> Option<usize> {
        match self.trigger(early)[..] {
            ["every_element"] => Some(1),
            ["every", n, "elements"] => Some(n.parse().expect("a count")),
            _ => None,
        }
    }

    /// The `N` of "every N processing_time".
    pub(super) fn interval(&self, early: bool) -> Option<Time> {
        if let ["every", n, "processing_time"] = self.trigger(early)[..] { Some(read_duration(n)) } else { None }
    }

    pub(super) fn key_by(&self) -> Vec<&str> {
        self.0.get("key_by").items().iter().filter_map(Value::as_str).collect()
    }
}
