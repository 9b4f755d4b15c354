//! `sink`: where panes go.

use tidegate_types::Millis;

use crate::checkpointing::DEFAULT_TRANSACTION_TIMEOUT;
use crate::error::PipelineError;
use crate::model::{Sink, Stamp};
use crate::place::{Object, Place};

/// The keys of `sink`.
pub(crate) const KEYS: [&str; 5] = ["type", "table", "key", "log", "transaction_timeout"];
/// The keys that belong to every type.
pub(crate) const COMMON: [&str; 1] = ["stamp"];
/// The keys that an entry of `sinks` has besides.
pub(crate) const ENTRY: [&str; 2] = ["name", "input"];
/// The words of `sink.stamp`.
pub(crate) const STAMPS: [(&str, StampName); 3] = [
    ("version", StampName::Version),
    ("completeness", StampName::Completeness),
    ("generated_at", StampName::GeneratedAt),
];
/// The words of `sink.type`.
pub(crate) const TYPES: [(&str, SinkType); 5] = [
    ("upsert_store", SinkType::UpsertStore),
    ("transactional_log", SinkType::TransactionalLog),
    ("log", SinkType::Log),
    ("outbox", SinkType::Outbox),
    ("parquet", SinkType::Parquet),
];

/// One thing that records say besides their fields.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StampName {
    Version,
    Completeness,
    GeneratedAt,
}

/// A type without what belongs to it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SinkType {
    UpsertStore,
    TransactionalLog,
    Log,
    Outbox,
    Parquet,
}

impl SinkType {
    /// The keys that belong to the type, besides `type`.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::UpsertStore => &["table", "key"],
            Self::TransactionalLog => &["log", "transaction_timeout"],
            Self::Log => &["log"],
            Self::Outbox | Self::Parquet => &["table"],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::UpsertStore => "`upsert_store`",
            Self::TransactionalLog => "`transactional_log`",
            Self::Log => "`log`",
            Self::Outbox => "`outbox`",
            Self::Parquet => "`parquet`",
        }
    }
}

/// Decodes the object, all of whose keys are known. `common`: the keys that belong to every type here.
pub(crate) fn decode(object: &Object<'_>, common: &[&str]) -> Result<(Sink, Stamp), PipelineError> {
    let sink_type =
        object.require("type", "choose one, such as `type: upsert_store`")?.choice("a sink type", &TYPES)?;
    let keys: Vec<&str> = ["type"].iter().chain(sink_type.keys()).chain(common).copied().collect();
    object.only(&keys, sink_type.name(), belongs)?;
    let sink = match sink_type {
        SinkType::UpsertStore => upsert(object)?,
        SinkType::TransactionalLog => {
            Sink::TransactionalLog { log: log(object)?, transaction_timeout: transaction_timeout(object)? }
        }
        SinkType::Log => Sink::Log { log: log(object)? },
        SinkType::Outbox => Sink::Outbox { table: table(object)? },
        SinkType::Parquet => Sink::Parquet { table: table(object)? },
    };
    let stamp = object.get("stamp").map(|place| stamp(&place)).transpose()?;
    Ok((sink, stamp.unwrap_or_default()))
}

/// `[version, completeness]`.
fn stamp(place: &Place<'_>) -> Result<Stamp, PipelineError> {
    let mut stamp = Stamp::default();
    for place in place.list("`stamp`")? {
        let given = match place.choice("a stamp", &STAMPS)? {
            StampName::Version => &mut stamp.version,
            StampName::Completeness => &mut stamp.completeness,
            StampName::GeneratedAt => &mut stamp.generated_at,
        };
        if *given {
            return Err(place.refuse("this stands in the list already; remove one"));
        }
        *given = true;
    }
    Ok(stamp)
}

/// The types that a key belongs to.
fn belongs(key: &str) -> &'static str {
    match key {
        "log" => "`type: transactional_log` or `type: log`",
        "transaction_timeout" => "`type: transactional_log`",
        _ => "`type: upsert_store`",
    }
}

fn upsert(object: &Object<'_>) -> Result<Sink, PipelineError> {
    let table = object.require("table", "name the table")?.name("the table's name")?;
    let place = object.require("key", "list the output fields that identify a row, such as `[id, window_start]`")?;
    let key = place.fields("`key`")?;
    if key.is_empty() {
        return Err(place.refuse("a row needs an identity; list output fields, such as `[id, window_start]`"));
    }
    Ok(Sink::UpsertStore { table, key })
}

fn log(object: &Object<'_>) -> Result<String, PipelineError> {
    object.require("log", "name the log that is written")?.name("the log's name")
}

fn transaction_timeout(object: &Object<'_>) -> Result<Millis, PipelineError> {
    let given = object.get("transaction_timeout");
    let given = given.map(|place| place.positive_duration("`transaction_timeout`")).transpose()?;
    Ok(given.unwrap_or(DEFAULT_TRANSACTION_TIMEOUT))
}

fn table(object: &Object<'_>) -> Result<Option<String>, PipelineError> {
    object.get("table").map(|place| place.name("the table's name")).transpose()
}
