//! The list of planted faults. Each breaks one rule of docs/semantics.md.
//!
//! A fault is a text that stands exactly once in a file, and what takes its place: a moved line does not break it. Short
//! texts move best; several lines only where one alone would not be unique.

mod aggregates;
mod chains;
mod custom;
mod firings;
mod joins;
mod processors;
mod records;
mod sessions;
mod slices;
mod tasks;
mod watermarks;
mod windows;

/// One planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// What it is called: lower-case words and hyphens.
    pub name: &'static str,
    /// The section of docs/semantics.md whose rule it breaks.
    pub section: &'static str,
    /// What is wrong in an engine that has it.
    pub breaks: &'static str,
    /// The file, from the root of the repository.
    pub file: &'static str,
    /// A text that stands in the file exactly once.
    pub find: &'static str,
    /// What takes its place.
    pub replace: &'static str,
}

/// A fault that cannot be planted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "fault `{name}`: its text stands {times} times in {file}, and must stand there once: mend `find` in tests/mutants/src/faults"
)]
pub struct Misfit {
    /// The fault.
    pub name: &'static str,
    /// Its file.
    pub file: &'static str,
    /// How often its text was found.
    pub times: usize,
}

impl Fault {
    /// The file's text with the fault in it.
    ///
    /// # Errors
    /// If its place is not there, or not the only one.
    pub fn plant(&self, text: &str) -> Result<String, Misfit> {
        match text.matches(self.find).count() {
            1 => Ok(text.replacen(self.find, self.replace, 1)),
            times => Err(Misfit { name: self.name, file: self.file, times }),
        }
    }
}

/// All faults, in the order of the table.
#[must_use]
pub fn all() -> Vec<Fault> {
    let lists = [
        watermarks::FAULTS,
        windows::FAULTS,
        sessions::FAULTS,
        firings::FAULTS,
        slices::FAULTS,
        custom::FAULTS,
        records::FAULTS,
        aggregates::FAULTS,
        tasks::FAULTS,
        joins::FAULTS,
        chains::FAULTS,
        processors::FAULTS,
    ];
    lists.into_iter().flatten().copied().collect()
}

#[cfg(test)]
mod tests;
