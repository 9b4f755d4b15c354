//! The table in docs/testing.md: read, brought up to date row by row, and written back between its markers.

use crate::{Fault, Row};

#[cfg(test)]
mod tests;

/// The lines around the table.
const BEGIN: &str = "<!-- faults: written by `make mutants` -->";
const END: &str = "<!-- faults: end -->";

/// A page without a place for the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("docs/testing.md has no place for the table: it needs the lines `{BEGIN}` and `{END}`")]
pub struct TableError;

/// The rows that stand in the page.
///
/// # Errors
/// If the page has no place for them.
pub fn read(page: &str) -> Result<Vec<Row>, TableError> {
    let (_, table, _) = parts(page)?;
    Ok(table.lines().skip(2).filter_map(row).collect())
}

/// The rows of `faults` in their order: the new ones, else the old ones. Faults without any row are left out.
#[must_use]
pub fn merged(faults: &[Fault], old: &[Row], new: &[Row]) -> Vec<Row> {
    let of = |rows: &[Row], name: &str| rows.iter().find(|row| row.name == name).cloned();
    faults.iter().filter_map(|fault| of(new, fault.name).or_else(|| of(old, fault.name))).collect()
}

/// The page with these rows.
///
/// # Errors
/// If the page has no place for them.
pub fn replaced(page: &str, rows: &[Row]) -> Result<String, TableError> {
    let (before, _, after) = parts(page)?;
    let mut table =
        String::from("| fault | section | what it breaks | unit test | figure | random |\n|---|---|---|---|---|---|\n");
    for row in rows {
        let [units, figures, random] = &row.cells;
        table += &format!("| {} | {} | {} | {units} | {figures} | {random} |\n", row.name, row.section, row.breaks);
    }
    Ok(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

fn parts(page: &str) -> Result<(&str, &str, &str), TableError> {
    let (before, rest) = page.split_once(BEGIN).ok_or(TableError)?;
    let (table, after) = rest.split_once(END).ok_or(TableError)?;
    Ok((before, table.trim_start(), after))
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
    let [name, section, breaks, units, figures, random] = cells.try_into().ok()?;
    let cells = [units, figures, random].map(str::to_owned);
    Some(Row { name: name.to_owned(), section: section.to_owned(), breaks: breaks.to_owned(), cells })
}
