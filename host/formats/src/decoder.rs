//! One decoder for each format of the pipeline file, behind one type.

use tidegate_types::Field;

use crate::decoded::Decoded;
use crate::json::decode::{DecodeSpec, JsonDecoder};
use crate::raw::RawDecoder;

/// Turns the records of a source batch into columns.
#[derive(Debug)]
pub enum Decoder {
    /// `format: json`.
    Json(Box<JsonDecoder>),
    /// `format: raw`.
    Raw(RawDecoder),
}

impl Decoder {
    /// A decoder of JSON records.
    #[must_use]
    pub fn json(spec: DecodeSpec) -> Self {
        Self::Json(Box::new(JsonDecoder::new(spec)))
    }

    /// A decoder that gives each record's bytes in the field `raw`.
    #[must_use]
    pub fn raw(fields: Vec<Field>) -> Self {
        Self::Raw(RawDecoder::new(fields))
    }

    /// Decodes the records `data[span.0..span.1]`.
    ///
    /// The answer for a record depends on its bytes alone, not on the records beside it.
    ///
    /// # Panics
    /// If a span is not within `data`.
    pub fn decode(&mut self, data: &[u8], spans: &[(u32, u32)]) -> Decoded {
        match self {
            Self::Json(decoder) => decoder.decode(data, spans),
            Self::Raw(decoder) => decoder.decode(data, spans),
        }
    }
}
