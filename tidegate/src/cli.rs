//! The command line: what may be said, and the help that teaches it.
//!
//! Only shapes and ranges are checked here; what flags mean together is `run`'s. A wrong flag ends with status 2 and one
//! line (docs/local-run.md).

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;

use crate::build::BuildArgs;
use crate::client::{ArtifactArgs, AuditArgs, JobArgs, KeyArgs, StreamArgs, TableArgs, TenantArgs, TokenArgs};
use crate::demo_events::DemoEventsArgs;
use crate::dev::DevArgs;
use crate::failure::Failure;
use crate::health::HealthArgs;
use crate::keygen::KeygenArgs;
use crate::sign::SignArgs;
use crate::verify::VerifyArgs;

/// The most tasks that share the work of one process.
pub(crate) const MAX_PARALLELISM: u32 = 64;
/// The most rows of a batch.
pub(crate) const MAX_BATCH_ROWS: u64 = 65_536;

const TIDEGATE_EXAMPLES: &str = "\
Start here:
  tidegate check pipeline.yaml                        what a pipeline means, before it runs
  tidegate run pipeline.yaml --input events.ndjson    run it over a file; panes come on standard output
  tidegate build my-hook                              make a component of a hook's source folder
  tidegate dev                                        the whole platform in one process (docs/tutorial.md)
  tidegate keygen --out acme; tidegate sign --help    sign it, so that others can tell that it is yours
  tidegate run --help                                 all about running, with examples";

const RUN_EXAMPLES: &str = "\
Examples:
  Count over a sample, and look at the final values:
    tidegate run pipeline.yaml --input events.ndjson | jq -c 'select(.pane.timing == \"ON_TIME\")'

  As a live job would have seen it: a partition for each airport, a clock that follows the records,
  the tenant's component, and windows to watch while it runs:
    tidegate run pipeline.yaml --input flights.ndjson --partition-field origin --arrival-field arrival \\
        --component delays=delays.wasm --trust acme.pub \\
        --output panes.ndjson --too-late late.ndjson --dead-letter dead.ndjson --live

  A component without a signature, straight from `tidegate build`:
    tidegate run pipeline.yaml --input events.ndjson --component delays=delays.wasm --allow-unsigned

Reading the result:
  Each pane says which firing of its window it is: \"EARLY\" (speculative), \"ON_TIME\", or \"LATE\" (a correction).
  The last line on standard error is the summary. Every record is in it:
  read + expanded = accepted + filtered + too_late + duplicate + rejected.

Exit status: 0 everything was read and accounted for; 1 a failure; 2 the pipeline, a component or a flag is wrong.";

const DEV_EXAMPLES: &str = "\
Examples:
  Here, with the data in ./tidegate-data, where the other commands find it by themselves:
    tidegate dev
    tidegate tenant create acme

  For other machines, which needs TLS because every request carries a token:
    tidegate dev --data /var/lib/tidegate --listen 0.0.0.0:7400 --tls-cert cert.pem --tls-key key.pem

It is safe to stop (Ctrl-C), to kill and to start again: what was acknowledged is there. Jobs go on from their
newest checkpoints: what came after is read again and counts once; `tidegate check` says what each sink makes of it.
Exit status: 0 it was told to stop; 1 a failure; 2 a flag is wrong, or another process uses the folder or the address.";

/// Stream jobs in WebAssembly: event-time windows, exact results.
#[derive(Debug, Parser)]
#[command(name = "tidegate", version, max_term_width = 110, after_help = TIDEGATE_EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a pipeline over files, in this process, to the end of its input
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// Check a pipeline file and say what it means
    Check(CheckArgs),
    /// Make a component of a hook's source folder
    Build(BuildArgs),
    /// Make a key that signs components
    Keygen(KeygenArgs),
    /// Sign a component: which version of whose it is, and until when
    Sign(SignArgs),
    /// Verify a component's signature, offline
    Verify(VerifyArgs),
    /// Run the whole platform in this process, with its data under one folder
    #[command(after_help = DEV_EXAMPLES)]
    Dev(DevArgs),
    /// Make tenants on a platform, and set what they may use
    Tenant(TenantArgs),
    /// Issue and revoke tokens
    Token(TokenArgs),
    /// Say which keys a tenant signs its artifacts with
    Key(KeyArgs),
    /// Read who changed what
    Audit(AuditArgs),
    /// Hand in components, and look at them
    Artifact(ArtifactArgs),
    /// Submit pipelines, and watch what becomes of them
    Job(JobArgs),
    /// Make streams, append to them, read and seal them
    Stream(StreamArgs),
    /// Look at the tables that jobs write
    Table(TableArgs),
    /// Write ad events for the demo and the tutorial on standard output
    #[command(hide = true)]
    DemoEvents(DemoEventsArgs),
    /// Compile the component on standard input: the platform starts it for itself
    #[command(hide = true)]
    CompileWorker,
    /// Ask whether the platform of a folder answers, for health checks
    Health(HealthArgs),
    /// Print the JSON Schema of the pipeline file, for editors
    #[command(after_help = "\
Editors with the YAML language server take it from the pipeline's first line:
  # yaml-language-server: $schema=pipeline.schema.json")]
    Schema,
    /// Print a script that completes this command's flags in a shell
    #[command(after_help = "\
Example, for bash:
  tidegate completions bash > ~/.local/share/bash-completion/completions/tidegate")]
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// The flags of `tidegate run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The pipeline file. Its source, sink and side outputs are replaced by the files named below
    pub(crate) pipeline: PathBuf,

    /// JSON lines to read; `-` is standard input. Several files are a partition each. NAME is a source of the pipeline, to
    /// be said where it has several
    #[arg(long, value_name = "[NAME=]FILE", required = true, help_heading = "Input")]
    pub(crate) input: Vec<String>,
    /// Deal the records of a single file to partitions by this field's value
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub(crate) partition_field: Option<String>,
    /// When each record became known (integer ms or RFC 3339): processing time follows it, so runs repeat exactly
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub(crate) arrival_field: Option<String>,

    /// Results, one JSON object a line [default: standard output]. NAME is a sink of the pipeline, to be said where it has
    /// several
    #[arg(long, value_name = "[NAME=]FILE", help_heading = "Output")]
    pub(crate) output: Vec<String>,
    /// Records all of whose windows were gone
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) too_late: Option<String>,
    /// Records that were rejected, each with its reason
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) dead_letter: Option<String>,
    /// Records that `dedup` dropped
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) duplicates: Option<String>,
    /// At the end, one JSON object: watermarks, what held them back, and how late the records of each partition were
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<String>,

    /// The component that the pipeline calls NAME, with or without its @version
    #[arg(long, value_name = "NAME=FILE.wasm", help_heading = "Components")]
    pub(crate) component: Vec<String>,
    /// A public key that you trust: each component must be signed by one of these
    #[arg(long, value_name = "FILE.pub", help_heading = "Components")]
    pub(crate) trust: Vec<PathBuf>,
    /// The tenant that components must be signed for [default: any]
    #[arg(long, value_name = "TENANT", requires = "trust", help_heading = "Components")]
    pub(crate) tenant: Option<String>,
    /// The signature of the component that the pipeline calls NAME [default: FILE.wasm.dsse.json beside it]
    #[arg(long, value_name = "NAME=FILE", requires = "trust", help_heading = "Components")]
    pub(crate) signature: Vec<String>,
    /// Take components without a signature, if you trust where their files come from
    #[arg(long, conflicts_with_all = ["trust", "tenant", "signature"], help_heading = "Components")]
    pub(crate) allow_unsigned: bool,
    /// A new instance for every call. Where the output differs, a hook keeps state that it must not keep
    #[arg(long, help_heading = "Components")]
    pub(crate) fresh_instances: bool,
    /// Take the state out of all operators after every N batches of input, as a checkpoint does, and go on with fresh ones, as
    /// many as they happen to be. No output may change by it: a test of state that has to survive.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) restore_every: Option<u16>,

    /// Tasks that share the work of the windows, 64 at most [default: the pipeline's `parallelism`, else 1]
    #[arg(long, value_name = "N", help_heading = "Speed (never changes the output)",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) parallelism: Option<u32>,
    /// The most rows of a batch
    #[arg(long, value_name = "N", help_heading = "Speed (never changes the output)", default_value = "1024",
        value_parser = RangedU64ValueParser::<usize>::new().range(1..=MAX_BATCH_ROWS))]
    pub(crate) batch_rows: usize,

    /// Show windows while they change, and at the end what came of it; without a terminal, lines of progress
    #[arg(long, help_heading = "Watching")]
    pub(crate) live: bool,
    /// Read the input over about this many seconds, so that one can watch
    #[arg(long, value_name = "N", help_heading = "Watching", requires = "live",
        value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) live_seconds: Option<u32>,
}

/// The arguments of `tidegate check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The pipeline file
    pub(crate) pipeline: PathBuf,
}

/// What the command line asks for.
pub(crate) enum Asked {
    /// To do something.
    For(Command),
    /// For help or the version: the text.
    ToRead(clap::Error),
}

/// Reads the command line.
///
/// # Errors
/// If it is wrong: one line, status 2.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Asked, Failure> {
    match Cli::try_parse_from(args) {
        Ok(cli) => Ok(Asked::For(cli.command)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => Ok(Asked::ToRead(error)),
            _ => Err(Failure::invalid(message(&error))),
        },
    }
}

/// The script that completes the command in a shell.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tidegate", &mut script);
    script
}

/// clap's message without its usage, as one sentence that says where to read more.
fn message(error: &clap::Error) -> String {
    let text = error.to_string();
    let said: Vec<&str> = text
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"))
        .filter(|line| !line.is_empty())
        .collect();
    let said = said.join(" ");
    format!("{} (see --help)", said.strip_prefix("error: ").unwrap_or(&said))
}

#[cfg(test)]
mod tests;
