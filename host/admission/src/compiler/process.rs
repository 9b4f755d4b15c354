//! One child from its start to its end: fed, read and watched at once.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};

use super::CompileLimits;
use crate::answer::{self, Answer, MAX_HEADER_BYTES};

/// The most that is kept of what a child says on standard error.
const MAX_SAID_BYTES: u64 = 4 * 1024;

/// How a child ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// With a whole answer.
    Answered(Answer),
    /// It was killed at the wall-clock limit.
    OutOfTime,
    /// It answered more than it may.
    TooMuch,
    /// Without a whole answer.
    Died { status: ExitStatus, said: String },
}

/// Runs a child over a component.
pub(super) fn run(program: &Path, component: &[u8], limits: &CompileLimits) -> io::Result<Ended> {
    let child = Command::new(program)
        .arg("compile-worker")
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that whatever it might start ends with it.
        .process_group(0)
        .spawn()?;
    let mut child = Watched { child, status: None };
    let pidfd = pidfd_open(Pid::from_child(&child.child), PidfdFlags::empty())?;
    let Child { stdin, stdout, stderr, .. } = &mut child.child;
    let (stdin, stdout, stderr) = (stdin.take(), stdout.take(), stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::other("a child without pipes"));
    };
    let most = limits.answer_bytes;
    thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        // A child that does not read to the end has its reason; its answer or its end says it.
        named("compile-feed").spawn_scoped(scope, move || drop(stdin.write_all(component)))?;
        let answer = named("compile-read").spawn_scoped(scope, move || read_answer(stdout, most))?;
        let said = named("compile-said").spawn_scoped(scope, move || read_said(stderr))?;
        let (told, ended) = channel();
        let pidfd = pidfd.as_fd();
        named("compile-wait").spawn_scoped(scope, move || drop(told.send(wait(pidfd))))?;
        let in_time = ended.recv_timeout(limits.wall).is_ok();
        // The threads end when it does.
        let status = child.end()?;
        let answer = answer.join().map_err(|_| io::Error::other("the reader of a child panicked"))?;
        let said = said.join().map_err(|_| io::Error::other("the reader of a child panicked"))?;
        Ok(match answer {
            Taken::TooMuch => Ended::TooMuch,
            Taken::All(_) if !in_time => Ended::OutOfTime,
            Taken::All(bytes) => answer::read(bytes).map_or(Ended::Died { status, said }, Ended::Answered),
        })
    })
}

/// What was read of an answer.
enum Taken {
    All(Vec<u8>),
    TooMuch,
}

/// Reads to the end or to the limit. Closing the pipe early ends an honest child; another one ends at the wall-clock limit.
fn read_answer(stdout: ChildStdout, most: u64) -> Taken {
    let most = most.saturating_add(u64::try_from(MAX_HEADER_BYTES).unwrap_or(0));
    let mut bytes = Vec::new();
    // What was read before an error is no whole answer, and is judged as such.
    let _ = stdout.take(most.saturating_add(1)).read_to_end(&mut bytes);
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most { Taken::TooMuch } else { Taken::All(bytes) }
}

fn read_said(stderr: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = stderr.take(MAX_SAID_BYTES).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for the end of a process, and leaves it to be reaped.
fn wait(pidfd: BorrowedFd<'_>) -> io::Result<()> {
    loop {
        match waitid(WaitId::PidFd(pidfd), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A child that does not outlive this value.
struct Watched {
    child: Child,
    /// Once it is reaped, its number may be somebody else's.
    status: Option<ExitStatus>,
}

impl Watched {
    /// Ends it, if it has not ended, with all of its group, and reaps it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        // One that has ended cannot be killed, and keeps its status.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
