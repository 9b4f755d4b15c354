//! What the suites said about one fault.

/// Who found a fault, suite by suite.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caught {
    /// Unit tests of the engine that fail.
    pub units: Vec<String>,
    /// Tests of `figures` and `contradictions` that fail, and figures that come out differently.
    pub figures: Vec<String>,
    /// The first random scenario that comes out differently: `seed 7`, `graph 7`, `processor 7`.
    pub seed: Option<String>,
}

impl Caught {
    /// Whether some suite found it.
    #[must_use]
    pub fn is_caught(&self) -> bool {
        !self.units.is_empty() || !self.figures.is_empty() || self.seed.is_some()
    }
}

/// A row of the table: a fault and its cells, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The fault's name.
    pub name: String,
    /// Its section of docs/semantics.md.
    pub section: String,
    /// What it breaks.
    pub breaks: String,
    /// Who found it: unit tests, figures, random scenarios.
    pub cells: [String; 3],
}

impl Row {
    /// The row of a fault.
    #[must_use]
    pub fn new(fault: &crate::Fault, caught: &Caught) -> Self {
        Self {
            name: fault.name.to_owned(),
            section: fault.section.to_owned(),
            breaks: fault.breaks.to_owned(),
            cells: [summary(&caught.units), summary(&caught.figures), caught.seed.clone().unwrap_or_else(none)],
        }
    }

    /// Whether some suite found the fault.
    #[must_use]
    pub fn is_caught(&self) -> bool {
        self.cells.iter().any(|cell| *cell != none())
    }
}

/// The cell of a suite that found nothing.
fn none() -> String {
    "–".to_owned()
}

/// The first, and how many more.
fn summary(names: &[String]) -> String {
    match names {
        [] => none(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} (+{})", rest.len()),
    }
}
