//! The key of each row: its `key_by` fields encoded, and the hash that names the key group.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use tidegate_types::key::encode_value;
use tidegate_types::{Batch, Column, Keys, key_hash};

/// Encodes the keys of a batch's rows. No field: every row has the same, empty key.
pub(crate) fn keys_of(batch: &Batch, key_by: &[String]) -> Keys {
    let rows = batch.len();
    let columns: Vec<Column> =
        key_by.iter().map(|name| batch.column(name).cloned().unwrap_or(Column::Null(rows))).collect();
    let mut encoded = BinaryBuilder::with_capacity(rows, rows * 16 * columns.len().max(1));
    let mut hashes = Vec::with_capacity(rows);
    let mut key = Vec::with_capacity(64);
    for row in 0..rows {
        key.clear();
        for column in &columns {
            encode_value(&mut key, column.value(row));
        }
        hashes.push(key_hash(&key));
        encoded.append_value(&key);
    }
    Keys { encoded: encoded.finish(), hashes: Arc::from(hashes) }
}
