//! docs/tutorial.md, command by command, against a real platform: each prints what stands on the page.
//!
//! A `console` block has commands (`$ ` at the start of a line) and what they print. `…` in a line stands for anything, also
//! nothing; a line that is `…` alone stands for any number of lines. `(status N)` ends what a command prints that fails.
//! The block behind `<!-- tutorial: in another terminal -->` is a command that goes on running. `sh` blocks are set-up that
//! the test does in its own way.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tidegate_conformance::run::Binary;
use tidegate_docs::{Block, blocks, root};

/// What stands behind the output of each command.
const END: &str = "tutorial-command-ended-with";

/// A command and what the page says that it prints.
struct Step {
    command: String,
    prints: Vec<String>,
    status: String,
    line: usize,
}

fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, text) in block.text.lines().enumerate() {
        if let Some(command) = text.strip_prefix("$ ") {
            let line = block.line + at + 1;
            steps.push(Step { command: command.to_owned(), prints: Vec::new(), status: "0".to_owned(), line });
            continue;
        }
        let step =
            steps.last_mut().unwrap_or_else(|| panic!("docs/tutorial.md:{}: no command before it", block.line + at));
        match text.strip_prefix("(status ").and_then(|rest| rest.strip_suffix(')')) {
            Some(status) => status.clone_into(&mut step.status),
            None => step.prints.push(text.to_owned()),
        }
    }
    steps
}

/// Whether lines are what a page says.
fn agree(page: &[String], printed: &[&str]) -> bool {
    match page.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "…" => (0..=printed.len()).any(|skip| agree(rest, &printed[skip..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, others)| fits(line, first) && agree(rest, others))
        }
    }
}

/// Whether a line is what the page says, where `…` is anything.
fn fits(page: &str, line: &str) -> bool {
    let mut parts = page.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut left) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return left.is_empty() };
    for part in between {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// A shell that runs one command after the other.
struct Shell {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Shell {
    fn start(folder: &Path, path: &str) -> Self {
        let mut child = shell(folder, path).arg("-s").stdin(Stdio::piped()).spawn().expect("there is bash");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, stdin, stdout }
    }

    /// What a command prints on both outputs, and its status.
    fn run(&mut self, command: &str) -> (Vec<String>, String) {
        writeln!(self.stdin, "{{ {command}\n}} 2>&1 </dev/null; echo {END} $?").expect("the shell reads");
        let mut printed = Vec::new();
        loop {
            let mut line = String::new();
            assert!(
                self.stdout.read_line(&mut line).expect("the shell writes text") > 0,
                "the shell ended: {printed:?}"
            );
            let line = line.trim_end_matches('\n');
            match line.split_once(END) {
                Some((before, status)) => {
                    printed.extend((!before.is_empty()).then(|| before.to_owned()));
                    return (printed, status.trim().to_owned());
                }
                None => printed.push(line.to_owned()),
            }
        }
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that goes on running.
struct Background(Child);

impl Background {
    /// Starts it, and reads as many lines as the page has.
    fn start(folder: &Path, path: &str, step: &Step) -> (Self, Vec<String>) {
        let command = format!("exec {} 2>&1", step.command);
        let mut child = shell(folder, path).arg("-c").arg(command).stdin(Stdio::null()).spawn().expect("there is bash");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lines = stdout.lines().map_while(Result::ok);
        let printed = lines.by_ref().take(step.prints.len()).collect();
        // What it says later is read too, so that it never waits for a reader.
        std::thread::Builder::new()
            .name("another-terminal".into())
            .spawn(move || lines.for_each(drop))
            .expect("a thread");
        (Self(child), printed)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn shell(folder: &Path, path: &str) -> Command {
    let mut command = Command::new("bash");
    command.current_dir(folder).env("PATH", path).env("REPO", fs::canonicalize(root()).expect("there is a root"));
    command.env_remove("TIDEGATE_API").env_remove("TIDEGATE_TOKEN").stdout(Stdio::piped());
    command
}

#[allow(clippy::disallowed_methods, reason = "the commands of the page find other programs where this test does")]
fn path_with(binary: &Path) -> String {
    let folder: PathBuf = binary.parent().expect("a program is in a folder").to_owned();
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("there is a PATH"))
}

#[test]
fn every_command_of_the_tutorial_prints_what_stands_there() {
    let text = fs::read_to_string(root().join("docs/tutorial.md")).expect("there is a page");
    let binary = Binary::find(None).expect("the command is built");
    let path = path_with(&fs::canonicalize(binary.path()).expect("the command is a file"));
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut background = Vec::new();
    let mut shell = Shell::start(folder.path(), &path);
    let mut ran = 0;
    for block in blocks(&text).iter().filter(|block| block.language == "console") {
        let goes_on = block.before == "<!-- tutorial: in another terminal -->";
        for step in steps(block) {
            let (printed, status) = if goes_on {
                let (running, printed) = Background::start(folder.path(), &path, &step);
                background.push(running);
                (printed, step.status.clone())
            } else {
                shell.run(&step.command)
            };
            let at = format!("docs/tutorial.md:{}: $ {}", step.line, step.command);
            assert_eq!(status, step.status, "{at}\n{}", printed.join("\n"));
            let lines: Vec<&str> = printed.iter().map(|line| line.trim_end()).collect();
            let (page, was) = (step.prints.join("\n"), printed.join("\n"));
            assert!(agree(&step.prints, &lines), "{at}\n--- the page\n{page}\n--- printed\n{was}");
            ran += 1;
        }
    }
    assert!(ran > 20, "only {ran} commands were found");
}

#[test]
fn three_dots_stand_for_anything() {
    assert!(fits("a … c", "a b c") && fits("…", "") && fits("a…", "a") && fits("x…y…z", "x1y2z"));
    assert!(!fits("a … c", "a b d") && !fits("a", "ab") && !fits("a…b", "a") && !fits("ab…b", "ab"));
    let page = ["…", "b", "…"].map(str::to_owned);
    assert!(agree(&page, &["a", "b", "c", "d"]) && agree(&page, &["b"]) && !agree(&page, &["a", "c"]));
}
