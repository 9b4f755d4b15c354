//! `tidegate stream`: make streams, append to them, read and seal them.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::append::Appending;
use super::batches::{Batches, Cut};
use super::http::Call;
use super::path::{part, query};
use super::read::{self, ListArgs};
use super::settings::Connection;
use super::sheet::Sheet;
use super::{Client, value};
use crate::failure::Failure;

/// How long a line from a pipe waits for others.
const LINGER: Duration = Duration::from_millis(100);
const RECORDS_AT_ONCE: usize = 1000;
/// Well below the least that a platform takes in one request by default.
const BYTES_AT_ONCE: usize = 1 << 20;

/// The arguments of `tidegate stream`.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    #[command(flatten)]
    pub(super) connection: Connection,
    #[command(subcommand)]
    pub(super) action: StreamAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum StreamAction {
    /// Make a stream
    Create {
        /// Its name
        name: String,
        /// Its partitions. Records are in order within one
        #[arg(long, value_name = "N", default_value = "1")]
        partitions: u32,
        /// Keep at most so many bytes in each partition; the oldest records go first
        #[arg(long, value_name = "N")]
        retention_bytes: Option<u64>,
        /// Keep records for so long (`30m`, `24h`, `7d`)
        #[arg(long, value_name = "TIME", value_parser = duration_ms)]
        retention_age: Option<u64>,
        /// The largest record, bytes
        #[arg(long, value_name = "N")]
        max_record_bytes: Option<u32>,
    },
    /// List the streams
    List(ListArgs),
    /// Show a stream and its partitions
    Show {
        /// Its name
        name: String,
    },
    /// Append JSON lines from a file or from standard input
    Append(AppendArgs),
    /// Read records, one JSON object a line
    Read(ReadArgs),
    /// End a stream, or one of its partitions: nothing is appended any more, so a job's last windows close
    Seal {
        /// The stream
        name: String,
        /// Only this partition
        #[arg(long, value_name = "N")]
        partition: Option<u32>,
    },
    /// Delete a stream with all its records (tenant admins)
    Delete {
        /// The stream
        name: String,
    },
}

/// The arguments of `tidegate stream append`.
#[derive(Debug, Args)]
pub(super) struct AppendArgs {
    /// The stream
    name: String,
    /// The file; `-` is standard input
    #[arg(default_value = "-")]
    file: String,
    /// Deal records to partitions by this field: the same value, the same partition
    #[arg(long, value_name = "FIELD", conflicts_with = "partition")]
    key: Option<String>,
    /// Append to this partition
    #[arg(long, value_name = "N")]
    partition: Option<u32>,
    /// The name under which batches are numbered [default: one that nobody else has]
    #[arg(long, value_name = "NAME")]
    producer: Option<String>,
    /// The number of the first batch
    #[arg(long, value_name = "N", default_value = "1", requires = "producer")]
    sequence: u64,
    /// The most records of a batch
    #[arg(long, value_name = "N", default_value_t = RECORDS_AT_ONCE,
        value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=100_000))]
    batch_records: usize,
    /// How long to try again while the platform does not answer, seconds
    #[arg(long, value_name = "N", default_value = "60")]
    patience: u32,
}

/// The arguments of `tidegate stream read`.
#[derive(Debug, Args)]
pub(super) struct ReadArgs {
    /// The stream
    pub(super) name: String,
    /// The partition [default: all, one after the other]
    #[arg(long, value_name = "N")]
    pub(super) partition: Option<u32>,
    /// The first offset [default: the oldest that is kept]
    #[arg(long, value_name = "OFFSET", requires = "partition")]
    pub(super) from: Option<u64>,
    /// The most records
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<u64>,
    /// Go on with what is appended, until the partition is sealed
    #[arg(long, requires = "partition")]
    pub(super) follow: bool,
}

pub(super) fn act(client: &Client<'_>, action: &StreamAction) -> Result<(), Failure> {
    match action {
        StreamAction::Create { name, partitions, retention_bytes, retention_age, max_record_bytes } => {
            let retention = json!({"bytes": retention_bytes, "age_ms": retention_age});
            let mut body = json!({"name": name, "partitions": partitions, "retention": retention});
            if let Some(bytes) = max_record_bytes {
                body["max_record_bytes"] = json!(bytes);
            }
            create(client, &body)
        }
        StreamAction::List(args) => list(client, *args),
        StreamAction::Show { name } => show(client, name),
        StreamAction::Append(args) => append(client, args),
        StreamAction::Read(args) => read::records(client, args),
        StreamAction::Seal { name, partition } => seal(client, name, *partition),
        StreamAction::Delete { name } => delete(client, name),
    }
}

fn create(client: &Client<'_>, body: &Value) -> Result<(), Failure> {
    let bytes = body.to_string();
    let made: Value = client.api.must(&Call::post("/v1/streams", "application/json", bytes.as_bytes()))?.json()?;
    client.tell(&made, |made| {
        let [name, partitions] = ["/name", "/partitions"].map(|at| value::text(made, at));
        format!("stream {name} has {partitions} {}\n", if partitions == "1" { "partition" } else { "partitions" })
    })
}

fn list(client: &Client<'_>, args: ListArgs) -> Result<(), Failure> {
    let streams = read::items(client, "/v1/streams", "streams", args)?;
    let header = ["stream", "partitions", "records", "bytes", "sealed"];
    client.list(&streams, &header, "no streams yet: tidegate stream create NAME", |stream| {
        let [name, partitions, records, bytes] =
            ["/name", "/partitions", "/records", "/bytes"].map(|at| value::text(stream, at));
        vec![name, partitions, records, bytes, value::yes(stream, "/sealed")]
    })
}

fn show(client: &Client<'_>, name: &str) -> Result<(), Failure> {
    let path = format!("/v1/streams/{}", part(name));
    let stream: Value = client.api.must(&Call::get(&path))?.json()?;
    client.tell(&stream, |stream| {
        let mut sheet = Sheet::new(&["partition", "start", "end", "bytes", "sealed", "last ingest"]);
        for part in stream.get("partition_states").and_then(Value::as_array).into_iter().flatten() {
            let [number, start, end, bytes] =
                ["/partition", "/start", "/end", "/bytes"].map(|at| value::text(part, at));
            sheet.row(vec![number, start, end, bytes, value::yes(part, "/sealed"), value::time(part, "/last_ingest")]);
        }
        sheet.text("no partitions")
    })
}

fn append(client: &Client<'_>, args: &AppendArgs) -> Result<(), Failure> {
    let (input, linger) = open(&args.file)?;
    let cut = Cut { records: args.batch_records, bytes: BYTES_AT_ONCE, linger };
    let mut pairs = Vec::new();
    pairs.extend(args.key.iter().map(|key| ("key", key.clone())));
    pairs.extend(args.partition.iter().map(|partition| ("partition", partition.to_string())));
    let appending = Appending {
        client,
        stream: &args.name,
        path: query(&format!("/v1/streams/{}/records", part(&args.name)), &pairs),
        producer: args.producer.clone().map_or_else(some_producer, Ok)?,
        sequence: args.sequence,
        patience: Duration::from_secs(args.patience.into()),
    };
    appending.all(Batches::of(input, cut)?)
}

/// What to read lines from, and how long one waits for others.
fn open(file: &str) -> Result<(Box<dyn BufRead + Send>, Option<Duration>), Failure> {
    if file == "-" {
        return Ok((Box::new(BufReader::new(stdin())), Some(LINGER)));
    }
    let path = PathBuf::from(file);
    let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.is_file(), file)));
    let (is_file, opened) = opened.map_err(|error| Failure::invalid(format!("{}: {error}", path.display())))?;
    Ok((Box::new(BufReader::new(opened)), (!is_file).then_some(LINGER)))
}

/// A name that nobody else has.
fn some_producer() -> Result<String, Failure> {
    let mut chance = [0_u8; 8];
    getrandom::fill(&mut chance).map_err(|error| Failure::external(format!("no random number: {error}")))?;
    Ok(format!("tidegate-{:016x}", u64::from_le_bytes(chance)))
}

fn seal(client: &Client<'_>, name: &str, partition: Option<u32>) -> Result<(), Failure> {
    let pairs: Vec<(&str, String)> = partition.iter().map(|partition| ("partition", partition.to_string())).collect();
    let path = query(&format!("/v1/streams/{}/seal", part(name)), &pairs);
    let sealed: Value = client.api.must(&Call::post(&path, "application/json", b""))?.json()?;
    client.tell(&sealed, |_| match partition {
        Some(partition) => format!("partition {partition} of {name} is sealed\n"),
        None => format!("{name} is sealed\n"),
    })
}

fn delete(client: &Client<'_>, name: &str) -> Result<(), Failure> {
    client.api.must(&Call::delete(&format!("/v1/streams/{}", part(name))))?;
    client.tell(&json!({"name": name, "deleted": true}), |_| format!("{name} is deleted, with all its records\n"))
}

/// A duration as in pipeline files, in ms.
fn duration_ms(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err("write it as 30m, 24h or 7d".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "write it as 30m, 24h or 7d".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "that is longer than any record is kept".to_owned())
}
