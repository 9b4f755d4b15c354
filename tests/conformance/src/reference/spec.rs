//! What a file says of one source or operator, read as it is asked for. Pipelines here are valid: mistakes are panics.

use crate::json::Value;
use crate::time::{Time, read_duration};

pub(super) struct Spec(pub(super) Value);

impl Spec {
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

    /// The key of a row by the fields at `path`: "a field that is absent counts as null".
    pub(super) fn key(&self, path: &str, row: &Value) -> Vec<Value> {
        self.names(path).into_iter().map(|field| row.get(field).clone()).collect()
    }

    pub(super) fn names(&self, path: &str) -> Vec<&str> {
        self.0.at(path).items().iter().filter_map(Value::as_str).collect()
    }

    /// The tumbling or sliding windows of a row at `t`.
    pub(super) fn grid(&self, t: Time) -> Vec<(Time, Time)> {
        let (s, o) = (self.duration("window.size"), self.duration("window.offset"));
        let p = self.limit("window.slide").unwrap_or(s);
        // "all `[start, start + s)` that contain `t`, with `start` = o plus a multiple of p", the last one first
        let last = (t - o).div_euclid(p) * p + o;
        (0..).map(|i| last - i * p).take_while(|start| t < start + s).map(|start| (start, start + s)).collect()
    }
}
