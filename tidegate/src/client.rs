//! The client commands: what a person or a script asks of a platform, over its API.
//!
//! One command is one or a few requests. Results go to standard output, as a table for people or with `--json` as the API
//! gives them; everything else goes to standard error. Invariant: a refusal ends with status 2 and one line that says what
//! is wrong and the way out.

mod append;
mod artifact;
mod audit;
mod batches;
mod http;
mod job;
mod key;
mod path;
mod problem;
mod read;
mod settings;
mod sheet;
mod stream;
mod table;
mod tenant;
mod token;
mod value;
mod watch;

use serde_json::Value;

use crate::console::Console;
use crate::environment::Remote;
use crate::failure::Failure;
use http::Api;
use sheet::Sheet;

pub(crate) use artifact::ArtifactArgs;
pub(crate) use audit::AuditArgs;
pub(crate) use job::JobArgs;
pub(crate) use key::KeyArgs;
pub(crate) use settings::{ADMIN_TOKEN_FILE, API_URL_FILE, DEFAULT_DATA};
pub(crate) use stream::StreamArgs;
pub(crate) use table::TableArgs;
pub(crate) use tenant::TenantArgs;
pub(crate) use token::TokenArgs;

/// What to ask.
pub(crate) enum ClientCommand {
    Tenant(TenantArgs),
    Token(TokenArgs),
    Key(KeyArgs),
    Audit(AuditArgs),
    Artifact(ArtifactArgs),
    Job(JobArgs),
    Stream(StreamArgs),
    Table(TableArgs),
}

/// What every action has.
struct Client<'a> {
    api: Api,
    json: bool,
    console: &'a Console,
}

/// Asks.
///
/// # Errors
/// With status 2 if the API refuses or a flag is wrong, with status 1 for anything else.
pub(crate) fn run(command: ClientCommand, console: &Console) -> Result<(), Failure> {
    let connection = match &command {
        ClientCommand::Tenant(args) => &args.connection,
        ClientCommand::Token(args) => &args.connection,
        ClientCommand::Key(args) => &args.connection,
        ClientCommand::Audit(args) => &args.connection,
        ClientCommand::Artifact(args) => &args.connection,
        ClientCommand::Job(args) => &args.connection,
        ClientCommand::Stream(args) => &args.connection,
        ClientCommand::Table(args) => &args.connection,
    };
    let api = Api::new(connection.settings(&Remote::read())?)?;
    let client = Client { api, json: connection.json, console };
    match &command {
        ClientCommand::Tenant(args) => tenant::act(&client, &args.action),
        ClientCommand::Token(args) => token::act(&client, &args.action),
        ClientCommand::Key(args) => key::act(&client, &args.action),
        ClientCommand::Audit(args) => audit::act(&client, args),
        ClientCommand::Artifact(args) => artifact::act(&client, &args.action),
        ClientCommand::Job(args) => job::act(&client, &args.action),
        ClientCommand::Stream(args) => stream::act(&client, &args.action),
        ClientCommand::Table(args) => table::act(&client, &args.action),
    }
}

impl Client<'_> {
    /// Writes one result: as JSON on one line, or in words.
    fn tell(&self, result: &Value, words: impl FnOnce(&Value) -> String) -> Result<(), Failure> {
        if self.json { crate::print(format!("{result}\n").as_bytes()) } else { crate::print(words(result).as_bytes()) }
    }

    /// Writes a list: as JSON, one object a line, or as a table.
    fn list(
        &self,
        items: &[Value],
        header: &[&'static str],
        none: &str,
        row: impl Fn(&Value) -> Vec<String>,
    ) -> Result<(), Failure> {
        let text = if self.json {
            items.iter().map(|item| format!("{item}\n")).collect()
        } else {
            let mut sheet = Sheet::new(header);
            items.iter().for_each(|item| sheet.row(row(item)));
            sheet.text(none)
        };
        crate::print(text.as_bytes())
    }
}
