//! Results bent out of shape.

use tidegate_sdk::columns::{Column, Rejection, Rows, Values, VarBytes};

use crate::config::Evil;

/// Bends the columns of a result whose first column is a text column and which has at least one row.
pub(crate) fn columns(evil: Evil, columns: &mut Vec<Column>) {
    let rows = columns[0].rows();
    match evil {
        Evil::ColumnsFewer => drop(columns.pop()),
        Evil::ColumnsMore => columns.push(Column::from_ints(vec![0; rows])),
        Evil::Kind => columns[0] = Column::from_ints(vec![0; rows]),
        Evil::Bool => columns[0] = Column::new(Values::Bools(vec![2; rows])),
        Evil::PresenceShort => columns[0].present = Some(vec![1; rows - 1]),
        Evil::PresenceLong => columns[0].present = Some(vec![1; rows + 1]),
        Evil::PresenceNull => columns[1].present = Some(vec![0; rows]),
        Evil::Utf8 => columns[0] = texts(vec![0xFF; rows], (0..=rows).collect()),
        Evil::Utf8Cut => columns[0] = texts("é".repeat(rows / 2 + 1).into_bytes(), cut_offsets(rows)),
        Evil::Wide => columns[0] = Column::from_texts(std::iter::repeat_n("w".repeat(4096), rows)),
        Evil::RowsMore => columns[0] = Column::from_texts(vec!["more"; rows + 1]),
        Evil::RowsFewer => columns[0] = Column::from_texts(vec!["fewer"; rows - 1]),
        _ => {
            if let Values::Texts(text) = &mut columns[0].values {
                offsets(evil, text);
            }
        }
    }
}

/// Row boundaries after every byte of two-byte characters, the last row taking what is left.
fn cut_offsets(rows: usize) -> Vec<usize> {
    let whole = 2 * (rows / 2 + 1);
    (0..rows).chain([whole]).collect()
}

fn texts(data: Vec<u8>, offsets: Vec<usize>) -> Column {
    let offsets = offsets.into_iter().map(|offset| u32::try_from(offset).unwrap_or(u32::MAX)).collect();
    Column::new(Values::Texts(VarBytes { offsets, data }))
}

fn offsets(evil: Evil, text: &mut VarBytes) {
    let last = text.offsets.len() - 1;
    match evil {
        Evil::OffsetsFall => {
            text.data = b"abcd".to_vec();
            text.offsets.fill(4);
            text.offsets[0] = 0;
            text.offsets[last] = 2;
            text.offsets.insert(last, 4);
            if last > 1 {
                text.offsets.remove(1);
            }
        }
        Evil::OffsetsStart => {
            text.data = b"abcd".to_vec();
            text.offsets.fill(4);
            text.offsets[0] = 1;
        }
        Evil::OffsetsPast => text.offsets[last] = u32::MAX,
        Evil::OffsetsShort => drop(text.offsets.pop()),
        Evil::OffsetsNone => text.offsets.clear(),
        Evil::OffsetsRest => text.data.extend_from_slice(b"rest"),
        _ => {}
    }
}

/// Bends which rows a result comes from. `rows`: how many the call was given, at least one.
pub(crate) fn rows(evil: Evil, output: &mut Rows, rows: usize) {
    let number = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
    let ascending = || (0..number(rows)).collect::<Vec<u32>>();
    match evil {
        Evil::SourcesRange => {
            let mut sources = ascending();
            sources[rows - 1] = number(rows);
            output.sources = Some(sources);
        }
        Evil::SourcesOrder => output.sources = Some(ascending().into_iter().rev().collect()),
        Evil::SourcesShort => output.sources = Some(ascending()[1..].to_vec()),
        Evil::TimesShort => output.times = Some(vec![0; rows - 1]),
        Evil::Huge => {
            const MANY: usize = 4_000_000;
            output.columns = vec![Column::from_texts(vec![""; MANY]), Column::from_ints(vec![0; MANY])];
            output.sources = Some(vec![0; MANY]);
        }
        _ => columns(evil, &mut output.columns),
    }
}

/// The rejections of a bent result. `rows`: how many the call was given, at least one.
pub(crate) fn rejections(evil: Evil, rows: usize) -> Vec<Rejection> {
    let reject = |row: usize| Rejection {
        row: u32::try_from(row).unwrap_or(u32::MAX),
        code: "evil-row".to_owned(),
        message: "an evil rejection".to_owned(),
    };
    match evil {
        Evil::RejectRange => vec![reject(rows)],
        Evil::RejectTwice => vec![reject(0), reject(0)],
        Evil::RejectOrder => (0..rows).rev().map(reject).collect(),
        Evil::RejectAndEmit => vec![reject(0)],
        Evil::RejectMany => (0..1_000_000).map(reject).collect(),
        _ => Vec::new(),
    }
}
