//! Standard error: messages, and below them a region that is drawn again and again.
//!
//! Everything that the command says goes through here, so that a warning never tears the table apart: it is written above
//! the region. Invariants: the cursor stands at the start of a line between two calls; errors of writing are ignored, since
//! there is nobody left to tell.

use std::fmt::Write as _;
use std::io::{Write, stderr};
use std::sync::{Arc, Mutex, PoisonError};

use terminal_size::{Height, Width, terminal_size_of};

use crate::environment::Environment;

/// Begins and ends an update that the terminal shows at once; terminals that do not know it ignore it.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// Erases from the cursor to the end of the screen.
const ERASE_BELOW: &str = "\x1b[J";
/// Empties the screen, leaves what scrolled off it, and puts the cursor at its top.
const ERASE_ALL: &str = "\x1b[H\x1b[2J";

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// Where the command speaks. Clones speak to the same place.
#[derive(Clone)]
pub(crate) struct Console {
    shared: Arc<Mutex<Screen>>,
    environment: Environment,
}

struct Screen {
    out: Box<dyn Write + Send>,
    /// The lines of the region that is on the screen.
    region: Vec<String>,
    /// The terminal's size when it was drawn.
    size: Option<Size>,
}

impl Console {
    /// The console of this process.
    pub(crate) fn new(environment: Environment) -> Self {
        Self::over(Box::new(stderr()), environment)
    }

    fn over(out: Box<dyn Write + Send>, environment: Environment) -> Self {
        let screen = Screen { out, region: Vec::new(), size: None };
        Self { shared: Arc::new(Mutex::new(screen)), environment }
    }

    /// The surroundings.
    pub(crate) fn environment(&self) -> Environment {
        self.environment
    }

    /// Writes a line, above the region if there is one.
    pub(crate) fn line(&self, text: &str) {
        let mut screen = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let region = std::mem::take(&mut screen.region);
        let size = screen.size;
        let mut frame = screen.erased(region.len(), size);
        let _ = writeln!(frame, "{text}");
        screen.show(frame, region, size);
    }

    /// Draws the region anew. Only where [`Environment::can_redraw`].
    pub(crate) fn draw(&self, lines: Vec<String>, size: Size) {
        let mut screen = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = screen.erased(screen.region.len(), Some(size));
        screen.show(frame, lines, Some(size));
    }

    /// Leaves the region where it is, as ordinary lines.
    pub(crate) fn keep_region(&self) {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).region.clear();
    }

    /// Takes the region away.
    pub(crate) fn clear_region(&self) {
        let mut screen = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let size = screen.size;
        let frame = screen.erased(screen.region.len(), size);
        screen.show(frame, Vec::new(), size);
    }
}

impl Screen {
    /// The start of a frame: what takes a region of so many lines off a terminal that has this size now.
    fn erased(&self, lines: usize, size: Option<Size>) -> String {
        match lines {
            0 => String::new(),
            // The terminal has broken the old lines somewhere else, or not: nobody knows where the region starts.
            _ if self.size.map(|size| size.columns) != size.map(|size| size.columns) => format!("{BEGIN}{ERASE_ALL}"),
            _ => format!("{BEGIN}\r\x1b[{lines}A{ERASE_BELOW}"),
        }
    }

    fn show(&mut self, mut frame: String, region: Vec<String>, size: Option<Size>) {
        let begun = frame.starts_with(BEGIN);
        for line in &region {
            let _ = writeln!(frame, "{line}");
        }
        if begun {
            frame.push_str(END);
        }
        let _ = self.out.write_all(frame.as_bytes());
        let _ = self.out.flush();
        self.region = region;
        self.size = size;
    }
}

/// The size of the terminal behind standard error; a usual one if there is none.
pub(crate) fn terminal_size() -> Size {
    let (Width(columns), Height(rows)) = terminal_size_of(stderr()).unwrap_or((Width(100), Height(30)));
    Size { columns: columns.max(20).into(), rows: rows.max(6).into() }
}

#[cfg(test)]
mod tests;
