//! A problem that the API answers with (RFC 9457), as one line that says what is wrong, where, and the way out.

use serde::Deserialize;

use crate::failure::Failure;

/// What is read of a problem. All but the status may be missing: a proxy on the way answers with something else.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    pub(super) status: u16,
    #[serde(rename = "type")]
    kind: String,
    title: String,
    detail: String,
    instance: Option<String>,
    rule: Option<String>,
    place: Option<String>,
    mend: Option<String>,
    path: Option<String>,
    line: Option<u64>,
    /// From the header, seconds.
    #[serde(skip)]
    pub(super) retry_after: Option<u64>,
}

impl Problem {
    /// The problem of an answer with this status and body.
    pub(super) fn read(status: u16, body: &[u8], retry_after: Option<u64>) -> Self {
        let problem = serde_json::from_slice::<Self>(body).unwrap_or_default();
        Self { status, retry_after, ..problem }
    }

    /// Its code: the last part of its type.
    pub(super) fn code(&self) -> &str {
        self.kind.rsplit('/').next().unwrap_or_default()
    }

    /// What to show.
    pub(super) fn line(&self) -> String {
        let what = match (self.detail.as_str(), self.title.as_str()) {
            ("", "") => return format!("the API answered with status {} and no reason", self.status),
            ("", title) => title,
            (detail, _) => detail,
        };
        let mut line = String::new();
        if !self.code().is_empty() {
            line.push_str(self.code());
            line.push_str(": ");
        }
        for (part, named) in [(&self.rule, "rule"), (&self.place, "at"), (&self.path, "at")] {
            let said = part.as_deref().filter(|part| !part.is_empty() && !what.contains(part));
            if let Some(part) = said {
                line.push_str(&format!("{named} {part}: "));
            }
        }
        if let Some(number) = self.line {
            line.push_str(&format!("line {number}: "));
        }
        line.push_str(what);
        if let Some(mend) = self.mend.as_deref().filter(|mend| !what.contains(mend)) {
            line.push_str("; ");
            line.push_str(mend);
        }
        if let (500.., Some(instance)) = (self.status, &self.instance) {
            line.push_str(&format!(" ({instance})"));
        }
        line
    }

    /// The end of the command.
    pub(super) fn failure(&self) -> Failure {
        if (400..500).contains(&self.status) { Failure::invalid(self.line()) } else { Failure::external(self.line()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_what_is_wrong_where_and_the_way_out() {
        let body = br#"{"type": "https://tidegate.example/problems/invalid-pipeline", "title": "The pipeline is wrong",
            "status": 422, "detail": "`slide` is longer than `size`", "path": "window.slide", "line": 12, "mend": "make it shorter"}"#;
        let problem = Problem::read(422, body, None);
        assert_eq!(
            problem.line(),
            "invalid-pipeline: at window.slide: line 12: `slide` is longer than `size`; make it shorter"
        );
        assert_eq!(problem.failure().status, 2);
    }

    #[test]
    fn what_stands_in_the_detail_is_not_said_twice() {
        let body = br#"{"detail": "memory-limit: bytes: too much; ask for less", "rule": "memory-limit", "mend": "ask for less"}"#;
        assert_eq!(Problem::read(422, body, None).line(), "memory-limit: bytes: too much; ask for less");
    }

    #[test]
    fn an_answer_that_is_no_problem_is_told_by_its_status() {
        let problem = Problem::read(502, b"<html>bad gateway", Some(3));
        assert_eq!(problem.line(), "the API answered with status 502 and no reason");
        assert_eq!((problem.failure().status, problem.retry_after), (1, Some(3)));
    }
}
