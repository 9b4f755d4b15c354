//! Tables of text for a person: columns as wide as what stands in them, numbers at the right.

/// A table.
pub(super) struct Sheet {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Between two columns.
const GAP: &str = "  ";

impl Sheet {
    pub(super) fn new(header: &[&str]) -> Self {
        Self::of(header.iter().map(|&name| name.to_owned()).collect())
    }

    /// A table whose columns are named by what is in it.
    pub(super) fn of(header: Vec<String>) -> Self {
        Self { header: header.iter().map(|name| crate::live::clean(name)).collect(), rows: Vec::new() }
    }

    /// Adds a row with a text for each column. What a terminal obeys is taken out.
    pub(super) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.header.len());
        self.rows.push(cells.iter().map(|cell| crate::live::clean(cell)).collect());
    }

    /// The lines, each with its end; `none` where there is no row.
    pub(super) fn text(&self, none: &str) -> String {
        if self.rows.is_empty() {
            return format!("{none}\n");
        }
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| crate::live::width(&row[column]));
            cells.max().unwrap_or(0).max(crate::live::width(&self.header[column]))
        };
        let widths: Vec<usize> = (0..self.header.len()).map(width).collect();
        let right = |column: usize| self.rows.iter().all(|row| is_number(&row[column]));
        let laid_out = |cells: Vec<&str>| {
            let cells = cells.into_iter().zip(&widths).enumerate();
            let cells = cells.map(|(at, (cell, width))| {
                let blanks = " ".repeat(width - crate::live::width(cell));
                if right(at) { blanks + cell } else { cell.to_owned() + &blanks }
            });
            cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned() + "\n"
        };
        let lines = std::iter::once(&self.header).chain(&self.rows);
        lines.map(|row| laid_out(row.iter().map(String::as_str).collect())).collect()
    }
}

fn is_number(cell: &str) -> bool {
    cell == "-" || (!cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit() || byte == b','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let mut sheet = Sheet::new(&["name", "records"]);
        sheet.row(vec!["ad-events".into(), "1,200".into()]);
        sheet.row(vec!["x".into(), "7".into()]);
        assert_eq!(sheet.text("none"), "name       records\nad-events    1,200\nx                7\n");
        assert_eq!(Sheet::new(&["name"]).text("no streams"), "no streams\n");
    }
}
