//! `tidegate dev`: the whole platform in one process, with its data under one folder.
//!
//! Started again on the same folder it has everything that was acknowledged: tenants, keys, artifacts, streams, tables.
//! Jobs go on from their newest checkpoints. Invariant: nothing listens before
//! everything that an answer may need is there, and nothing is closed before the last answer is given.

mod data;
mod housekeeping;
mod listen;
mod logs;
mod platform;
mod runner;
mod serve;
mod tables;
mod token;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tokio::runtime;

use crate::client::DEFAULT_DATA;
use crate::console::Console;
use crate::failure::Failure;
use data::DataFolder;
use listen::Listen;
use platform::Platform;

/// How long what still runs after the end may take.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The flags of `tidegate dev`.
#[derive(Debug, Args)]
pub(crate) struct DevArgs {
    /// The folder that everything is kept in
    #[arg(long, value_name = "DIR", default_value = DEFAULT_DATA)]
    data: PathBuf,
    /// Where the API listens. Port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7400")]
    listen: String,
    /// A PEM file with the certificate for TLS, which addresses beyond loopback need
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with the certificate's private key
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// What is logged on standard error: a level, or levels of parts such as warn,tidegate_api=debug
    #[arg(long, value_name = "FILTER", default_value = "info")]
    log: String,
}

/// Runs the platform until it is told to stop.
///
/// # Errors
/// With status 2 if a flag is wrong or the folder is in use, with status 1 if the platform cannot start or go on.
pub(crate) fn run(args: &DevArgs, console: &Console) -> Result<(), Failure> {
    let listen = Listen::of(&args.listen, args.tls_cert.as_ref(), args.tls_key.as_ref())?;
    logs::start(&args.log)?;
    let data = DataFolder::open(&args.data)?;
    let runtime = runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("tidegate-dev")
        .thread_stack_size(crate::STACK_BYTES)
        .build()
        .map_err(|error| Failure::external(format!("no threads to serve on: {error}")))?;
    let ended = runtime.block_on(live(data, &listen, console));
    runtime.shutdown_timeout(LAST_WORDS);
    ended
}

async fn live(mut data: DataFolder, listen: &Listen, console: &Console) -> Result<(), Failure> {
    // From here on a signal is an orderly end, whenever it comes.
    let stop = serve::stop_signal()?;
    let platform = Platform::open(&data).await?;
    let token = token::admin(&platform.tenancy, &data).await?;
    let (listening, url) = listen.bind().await?;
    housekeeping::round(platform.log()).await;
    let resumed = platform.resume().await?;
    welcome(&url, data.root(), token, resumed).iter().for_each(|line| console.line(line));
    // Last: whoever waits for this file finds everything said.
    data.write_api_url(&url)?;
    let housekeeping = tokio::spawn(housekeeping::run(platform.log()));
    serve::until(listening, platform.router(stop.clone()), stop).await;
    data.remove_api_url();
    housekeeping.abort();
    console.line("stopping: jobs end, everything is flushed");
    platform.close().await;
    Ok(())
}

/// What a person should know now.
fn welcome(url: &str, data: &Path, token: token::Token, resumed: usize) -> Vec<String> {
    let data = data.display();
    let minted = if token == token::Token::Minted { ", just made" } else { "" };
    let mut lines = vec![
        format!("Tidegate listens at {url}; its data is in {data}"),
        format!("  The platform admin's token{minted}: {data}/admin.token"),
    ];
    lines.push(match resumed {
        0 => "  Started again on the same folder, jobs go on from their newest checkpoints".to_owned(),
        1 => "  1 job runs again, from its newest checkpoint".to_owned(),
        _ => format!("  {resumed} jobs run again, from their newest checkpoints"),
    });
    let flag =
        if data.to_string() == DEFAULT_DATA { String::new() } else { format!(" --token-file {data}/admin.token") };
    lines.extend([
        "To try next, in another terminal:".to_owned(),
        format!("  export TIDEGATE_API={url}"),
        format!("  tidegate tenant create acme{flag}"),
        format!("  tidegate token create acme --role tenant-admin --output acme.token{flag}"),
        "  tidegate stream create events --token-file acme.token".to_owned(),
        "Ctrl-C stops it; started again on the same folder it goes on. docs/tutorial.md is the whole way.".to_owned(),
    ]);
    lines
}
