//! The `tidegate` command: the one composition root and the only reader of the environment.
//!
//! `cli` says what may be asked, the modules of the commands do it, `console` is standard error. A command ends with status 0,
//! or with a `Failure` that is shown here, once, in one line.

mod admission;
mod bounded;
mod build;
mod check;
mod cli;
mod client;
mod clock;
mod compile_worker;
mod console;
mod demo_events;
mod dev;
mod environment;
mod failure;
mod health;
mod hooks;
mod key_files;
mod keygen;
mod live;
mod run;
mod sign;
mod verify;

use std::io::{ErrorKind, Write, stdout};
use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;

use cli::{Asked, Command};
use client::ClientCommand;
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
        Command::CompileWorker => compile_worker::run(),
        Command::Keygen(args) => print(keygen::run(&args)?.as_bytes()),
        Command::Sign(args) => print(sign::run(&args)?.as_bytes()),
        Command::Verify(args) => print(verify::run(&args)?.as_bytes()),
        Command::Dev(args) => arm_fault().and_then(|()| dev::run(&args, console)),
        Command::Tenant(args) => client::run(ClientCommand::Tenant(args), console),
        Command::Token(args) => client::run(ClientCommand::Token(args), console),
        Command::Key(args) => client::run(ClientCommand::Key(args), console),
        Command::Audit(args) => client::run(ClientCommand::Audit(args), console),
        Command::Artifact(args) => client::run(ClientCommand::Artifact(args), console),
        Command::Job(args) => client::run(ClientCommand::Job(args), console),
        Command::Stream(args) => client::run(ClientCommand::Stream(args), console),
        Command::Table(args) => client::run(ClientCommand::Table(args), console),
        Command::DemoEvents(args) => demo_events::run(&args, console),
        Command::Health(args) => print(health::run(&args)?.as_bytes()),
        Command::Schema => {
            let schema = serde_json::to_string_pretty(&tidegate_pipeline::json_schema()).expect("a schema is JSON");
            print(format!("{schema}\n").as_bytes())
        }
        Command::Completions { shell } => print(&cli::completions(shell)),
    }
}

/// Arms the fault that the environment names. Only builds with debug assertions have any.
fn arm_fault() -> Result<(), Failure> {
    environment::fault().map_or(Ok(()), |fault| {
        tidegate_faults::arm(&fault).map_err(|error| Failure::invalid(format!("TIDEGATE_FAULT: {error}")))
    })
}

/// Writes to standard output. A reader that has left is no failure of what only prints.
fn print(text: &[u8]) -> Result<(), Failure> {
    match stdout().write_all(text).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::silent()),
        Err(error) => Err(Failure::external(format!("standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}
