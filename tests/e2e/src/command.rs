//! The command under test as a child process, in a folder of its own.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;

/// A folder in which the command runs. It goes with the value.
pub struct Folder(TempDir);

/// A run of the command that came to its end.
#[derive(Debug)]
pub struct Finished {
    /// The exit status.
    pub status: i32,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
}

impl Folder {
    /// An empty folder.
    ///
    /// # Panics
    /// If the machine has no room for one.
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for temporary files"))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    ///
    /// # Panics
    /// If it cannot.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), text).expect("the folder takes files");
    }

    /// A file's text.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the command here with these arguments.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn tidegate(&self, args: &[&str]) -> Finished {
        self.tidegate_reading(args, "")
    }

    /// Runs the command here with these arguments and this standard input.
    ///
    /// # Panics
    /// If it cannot be started, or a signal ends it.
    pub fn tidegate_reading(&self, args: &[&str], input: &str) -> Finished {
        let mut child = Command::new(binary())
            .args(args)
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let output = thread::scope(|scope| {
            // A command that does not read its input is no failure of the writer.
            scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
            child.wait_with_output().expect("the command ends")
        });
        Finished::of(&output)
    }
}

impl Folder {
    /// Runs the command here with these arguments and a standard output whose reader has left.
    ///
    /// # Panics
    /// If it cannot be started, or a signal ends it.
    pub fn tidegate_into_closed(&self, args: &[&str]) -> Finished {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(binary());
        let command = command.args(args).current_dir(self.path()).stdin(Stdio::null()).stdout(writer);
        Finished::of(&command.stderr(Stdio::piped()).output().expect("the command starts"))
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Finished {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("the command writes UTF-8");
        let status = output.status.code().expect("no signal ended the command");
        Self { status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// The same, if the status is 0.
    ///
    /// # Panics
    /// If it is not.
    pub fn success(self) -> Self {
        assert_eq!(self.status, 0, "{}", self.stderr);
        self
    }

    /// The summary: the last line on standard error.
    ///
    /// # Panics
    /// If that is no JSON object.
    pub fn summary(&self) -> Value {
        let last = self.stderr.lines().last().unwrap_or_default();
        let summary: Value = serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {}", self.stderr));
        assert!(summary.is_object(), "{last}");
        summary
    }

    /// A count of the summary; `panes.LATE` is one of its panes.
    ///
    /// # Panics
    /// If there is no such count.
    pub fn count(&self, key: &str) -> u64 {
        let pointer = format!("/{}", key.replace('.', "/"));
        let summary = self.summary();
        summary.pointer(&pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {key} in {summary}"))
    }

    /// Asserts that every record of the summary is accounted for.
    ///
    /// # Panics
    /// If one is not.
    pub fn assert_balanced(&self) {
        let sum = |keys: &[&str]| keys.iter().map(|key| self.count(key)).sum::<u64>();
        let [came, went] =
            [sum(&["read", "expanded"]), sum(&["accepted", "filtered", "too_late", "duplicate", "rejected"])];
        assert_eq!(came, went, "{}", self.summary());
    }

    /// The one line of a refusal: status 2, nothing on standard output.
    ///
    /// # Panics
    /// If it is no refusal.
    pub fn refusal(&self) -> &str {
        assert_eq!((self.status, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        let errors: Vec<&str> = self.stderr.lines().filter(|line| !line.starts_with("warning: ")).collect();
        match errors.as_slice() {
            [line] => line.strip_prefix("error: ").unwrap_or_else(|| panic!("no error: {line}")),
            _ => panic!("not one line: {}", self.stderr),
        }
    }
}

/// The command, built beside these tests (`target/<profile>/tidegate`), or where `TIDEGATE_BIN` says.
///
/// # Panics
/// If it is not built, with the way out.
#[allow(clippy::disallowed_methods, reason = "a test may be pointed at another binary")]
pub fn binary() -> PathBuf {
    let path = std::env::var_os("TIDEGATE_BIN").map_or_else(|| target().join("tidegate"), PathBuf::from);
    assert!(path.is_file(), "{} is missing: run `cargo build -p tidegate`, or set TIDEGATE_BIN", path.display());
    path
}

/// A component that `.ci/build-guests.sh` builds.
///
/// # Panics
/// If it is not built, with the way out.
pub fn guest(name: &str) -> PathBuf {
    let path = target()
        .parent()
        .expect("a profile's folder is in the target folder")
        .join("guests")
        .join(format!("{name}.wasm"));
    assert!(path.is_file(), "{} is missing: run `make guests` (or .ci/build-guests.sh)", path.display());
    path
}

/// The folder of this profile in the target folder; test executables are in its `deps`.
fn target() -> PathBuf {
    let executable = std::env::current_exe().expect("a test has an executable");
    executable.ancestors().nth(2).expect("tests are in target/<profile>/deps").to_owned()
}
