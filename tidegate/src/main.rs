//! The `tidegate` command: the one composition root and the only reader of the environment.
//!
//! `cli` says what may be asked, `run`, `check` and `build` do it, `console` is standard error. A command ends with status
//! 0, or with a `Failure` that is shown here, once, in one line.

mod build;
mod check;
mod cli;
mod console;
mod environment;
mod failure;
mod live;
mod run;

use std::io::{ErrorKind, Write, stdout};
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

use cli::{Asked, Command};
use console::Console;
use environment::Environment;
use failure::Failure;

/// Hooks run on this thread: it has room for a guest's stack whatever `ulimit -s` says.
const STACK_BYTES: usize = 16 << 20;

fn main() -> ExitCode {
    let work = thread::Builder::new().name("tidegate".into()).stack_size(STACK_BYTES).spawn(command);
    match work.map(thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(error) => {
            Console::new(Environment::read()).line(&format!("error: no thread to work on: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn command() -> ExitCode {
    let console = Console::new(Environment::read());
    let done = match cli::parse(std::env::args_os()) {
        Ok(Asked::ToRead(text)) => {
            let _ = text.print();
            return ExitCode::from(u8::try_from(text.exit_code()).unwrap_or(1));
        }
        Ok(Asked::For(command)) => perform(command, &console),
        Err(failure) => Err(failure),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(message) = &failure.message {
                console.line(&format!("error: {message}"));
            }
            ExitCode::from(failure.status)
        }
    }
}

fn perform(command: Command, console: &Console) -> Result<(), Failure> {
    match command {
        Command::Run(args) => run::run(&args, console),
        Command::Check(args) => print(check::check(&args, console)?.as_bytes()),
        Command::Build(args) => Ok(build::run(&args)?),
        Command::Schema => {
            let schema = serde_json::to_string_pretty(&tidegate_pipeline::json_schema()).expect("a schema is JSON");
            print(format!("{schema}\n").as_bytes())
        }
        Command::Completions { shell } => print(&cli::completions(shell)),
    }
}

/// Writes to standard output. A reader that has left is no failure of what only prints.
fn print(text: &[u8]) -> Result<(), Failure> {
    match stdout().write_all(text).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::silent()),
        Err(error) => Err(Failure::external(format!("standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}
