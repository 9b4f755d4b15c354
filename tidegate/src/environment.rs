//! What the command takes from the process around it: read once, here, and handed on as values.

use std::io::{IsTerminal, stderr, stdout};

/// The surroundings of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Environment {
    /// Whether standard error is a terminal that can move its cursor.
    pub(crate) can_redraw: bool,
    /// Whether standard output is a terminal, so that panes on it would stand between other lines.
    pub(crate) stdout_is_terminal: bool,
    /// Whether colours are wanted on standard error.
    pub(crate) colour: bool,
}

impl Environment {
    pub(crate) fn read() -> Self {
        let can_redraw = stderr().is_terminal() && variable("TERM").is_some_and(|term| term != "dumb");
        Self {
            can_redraw,
            stdout_is_terminal: stdout().is_terminal(),
            colour: can_redraw && variable("NO_COLOR").is_none(),
        }
    }
}

/// What the environment says about the platform that client commands ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remote {
    /// `TIDEGATE_API`: where the API is.
    pub(crate) api: Option<String>,
    /// `TIDEGATE_TOKEN`: the token to ask with.
    pub(crate) token: Option<String>,
}

impl Remote {
    pub(crate) fn read() -> Self {
        Self { api: variable("TIDEGATE_API"), token: variable("TIDEGATE_TOKEN") }
    }
}

/// `TIDEGATE_FAULT`: the fault point at which the process is to die, `NAME` or `NAME:COUNT`. Recovery drills set it.
pub(crate) fn fault() -> Option<String> {
    variable("TIDEGATE_FAULT")
}

/// A variable that is there and not empty.
#[allow(clippy::disallowed_methods, reason = "this is where the binary reads its environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
