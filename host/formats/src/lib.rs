//! JSON and raw bytes to and from columns.
//!
//! The decoders turn the records of a source batch into columns in one pass and say what each record told the source
//! (its time, its watermark claim, its arrival), also where the record itself is refused: one malformed record costs that
//! record only. The encoders write panes, rows and side outputs as JSON lines. Nothing here does I/O or reads a clock.

pub mod decoded;
pub mod decoder;
pub mod json;
pub mod raw;
pub mod time;

pub use decoded::{Claim, Decoded, MAX_RECORD_BYTES, Rejected, codes};
pub use decoder::Decoder;
pub use json::canonical::canonical;
pub use json::decode::{DecodeSpec, JsonDecoder};
pub use json::field::FieldReader;
pub use json::pane::PaneEncoder;
pub use json::result::ResultEncoder;
pub use json::row::RowEncoder;
pub use json::side::{SideRecord, encode_side_record};
pub use json::stamp::write_stamps;
pub use json::write::write_value;
pub use raw::RawDecoder;
pub use time::{format_time, parse_rfc3339, parse_time, write_time};
