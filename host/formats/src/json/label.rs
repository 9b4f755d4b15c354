//! What is the same for every record of an encoder, prepared once: the names of its fields.

use tidegate_types::Column;

use super::write::{write_string, write_value};

/// `"name":` for each name.
pub(super) fn labels(names: &[String]) -> Vec<Vec<u8>> {
    let label = |name: &String| {
        let mut label = Vec::new();
        write_string(&mut label, name);
        label.push(b':');
        label
    };
    names.iter().map(label).collect()
}

/// Appends a row's members of these columns, each with a comma behind it.
pub(super) fn write_fields(out: &mut Vec<u8>, labels: &[Vec<u8>], columns: &[Column], row: usize) {
    for (label, column) in labels.iter().zip(columns) {
        out.extend_from_slice(label);
        write_value(out, column.value(row));
        out.push(b',');
    }
}
