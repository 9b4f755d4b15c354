//! A table of windows in the columns of a terminal.
//!
//! Columns stand in the order window, key, pane, values; those that do not fit are left out at the right, which `…` says.

use anstyle::{AnsiColor, Style};
use tidegate_types::{PaneFields, Timing};

use super::text::{self, Cell, fit, width};
use super::windows::Row;

/// The widest a column gets, but for the window's.
const WIDEST: usize = 26;
/// Between two columns.
const GAP: &str = "  ";

/// The header and a line for each row, none wider than `columns`.
pub(super) fn lines(fields: &PaneFields, rows: &[&Row], columns: usize, colour: bool) -> Vec<String> {
    let header = header(fields);
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row)).collect();
    let (widths, all_fit) = widths(&header, &cells, columns);
    let right = |column: usize| cells.iter().any(|row| row[column].is_number);
    let laid_out = |row: &[Cell]| {
        let fitted = widths.iter().zip(row).enumerate();
        let fitted: Vec<String> = fitted.map(|(at, (width, cell))| fit(&cell.text, *width, right(at))).collect();
        let line = fitted.join(GAP);
        if all_fit { line } else { line + " …" }
    };
    let mut lines = vec![styled(laid_out(&header).trim_end(), Style::new().bold(), colour)];
    lines.extend(
        rows.iter().zip(&cells).map(|(row, cells)| styled(laid_out(cells).trim_end(), style(row.timing), colour)),
    );
    lines
}

fn header(fields: &PaneFields) -> Vec<Cell> {
    let key = fields.keys.iter().map(|name| Cell::text(text::clean(name)));
    let values = fields.values.iter().map(|name| Cell::text(text::clean(name)));
    [Cell::text("window (UTC)")].into_iter().chain(key).chain([Cell::text("pane")]).chain(values).collect()
}

fn cells(row: &Row) -> Vec<Cell> {
    let window = Cell::text(text::window(row.window));
    let pane = Cell::text(pane(row));
    [window].into_iter().chain(row.key.iter().cloned()).chain([pane]).chain(row.values.iter().cloned()).collect()
}

/// Which firing it is. Early values are marked as what they are: a guess.
fn pane(row: &Row) -> String {
    match row.timing {
        Timing::Early => format!("~ early #{}", row.index),
        Timing::OnTime => format!("on time #{}", row.index),
        Timing::Late => format!("late #{}", row.index),
    }
}

fn style(timing: Timing) -> Style {
    match timing {
        Timing::Early => Style::new().dimmed(),
        Timing::OnTime => AnsiColor::Green.on_default(),
        Timing::Late => AnsiColor::Yellow.on_default(),
    }
}

/// The text in a style, if colours are wanted.
pub(super) fn styled(text: &str, style: Style, colour: bool) -> String {
    if colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// The widths of the columns that fit, and whether all do. The last one is cut where that makes it fit.
fn widths(header: &[Cell], rows: &[Vec<Cell>], columns: usize) -> (Vec<usize>, bool) {
    /// A narrower rest of a column says nothing.
    const NARROWEST: usize = 6;
    let wanted = (0..header.len()).map(|column| {
        let cells = rows.iter().map(|row| &row[column]).chain([&header[column]]);
        let widest = cells.map(|cell| width(&cell.text)).max().unwrap_or(0);
        if column == 0 { widest } else { widest.min(WIDEST) }
    });
    let mut widths = Vec::new();
    // Room for the ` …` at the end.
    let mut left = columns.saturating_sub(2);
    for wanted in wanted {
        let gap = if widths.is_empty() { 0 } else { GAP.len() };
        if wanted + gap <= left {
            widths.push(wanted);
            left -= wanted + gap;
        } else {
            if left >= NARROWEST + gap {
                widths.push(left - gap);
            }
            return (widths, false);
        }
    }
    (widths, true)
}

#[cfg(test)]
mod tests;
