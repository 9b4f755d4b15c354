//! A stream's records: appended as lines, and read as lines.

mod append;
mod read;
mod spread;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::OperationProblems;
use crate::problem::codes;
use crate::services::Shared;

// The macro that lists routes finds a handler's description beside the handler.
use append::{__path_append_records, append_records};
use read::{__path_read_records, read_records};

pub(super) const PROBLEMS: &[OperationProblems] = &[
    (
        "append_records",
        &[
            codes::NOT_FOUND,
            codes::REQUEST_TIMEOUT,
            codes::STREAM_SEALED,
            codes::SEQUENCE_TOO_LOW,
            codes::SEQUENCE_REUSED,
            codes::BODY_TOO_LARGE,
            codes::RECORD_TOO_LARGE,
            codes::UNSUPPORTED_MEDIA_TYPE,
            codes::INVALID_REQUEST,
            codes::QUOTA_EXCEEDED,
        ],
    ),
    ("read_records", &[codes::NOT_FOUND, codes::OFFSET_NOT_KEPT, codes::OFFSET_OUT_OF_RANGE, codes::INVALID_REQUEST]),
];

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(append_records, read_records))
}
