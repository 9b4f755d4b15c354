//! A real `tidegate dev` as a child process, and a plain HTTP client for what the command does not do.
//!
//! Invariant: a platform never outlives its value: it is killed when the value is dropped, also by a failing test.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::command::{Finished, Folder, binary};

/// How long a start may take, on a machine that does other things too.
const START: Duration = Duration::from_secs(120);

/// A platform that runs.
pub struct Platform {
    child: Child,
    said: Arc<Mutex<String>>,
    /// Gets the URL; closed when nobody holds the process's standard error any more.
    lines: Mutex<Receiver<String>>,
    /// Where its API is; empty as long as it does not listen.
    pub url: String,
    data: PathBuf,
}

impl Platform {
    /// Starts a platform with its data in this folder, listening on a port of 127.0.0.1 (0: a free one).
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(data: &Path, port: u16) -> Self {
        Self::start_with(data, &["--listen", &format!("127.0.0.1:{port}")])
    }

    /// Starts a platform with its data in this folder and these flags.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_with(data: &Path, flags: &[&str]) -> Self {
        let mut platform = Self::launch(data, flags, &[]);
        if !platform.listens() {
            let _ = platform.child.kill();
            panic!("the platform did not start:\n{}", platform.said());
        }
        platform
    }

    /// Launches a platform with its data in this folder, these flags and these variables beside its environment. It may
    /// end at any time, and need not come to listen.
    ///
    /// # Panics
    /// If there is no such command.
    pub fn launch(data: &Path, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(binary())
            .arg("dev")
            .arg("--data")
            .arg(data)
            .args(flags)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let said = Arc::new(Mutex::new(String::new()));
        let lines = Mutex::new(listen(&mut child, &said));
        Self { child, said, lines, url: String::new(), data: data.to_owned() }
    }

    /// Waits until a launched platform listens: true, with its URL known. False: it ended, or never came to it.
    pub fn listens(&mut self) -> bool {
        let lines = self.lines.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Ok(url) = lines.recv_timeout(START) else { return false };
        self.url = url;
        true
    }

    /// Whether it ends by itself within this time.
    ///
    /// # Panics
    /// If it cannot be asked.
    pub fn ends_within(&mut self, patience: Duration) -> bool {
        let lines = self.lines.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Standard error is closed when the process is gone, so its end is not waited for in turns.
        match lines.recv_timeout(patience) {
            Err(RecvTimeoutError::Disconnected) => self.child.wait().is_ok(),
            Ok(_) | Err(RecvTimeoutError::Timeout) => self.child.try_wait().expect("a child can be asked").is_some(),
        }
    }

    /// The first platform admin's token file.
    pub fn admin_token_file(&self) -> PathBuf {
        self.data.join("admin.token")
    }

    /// Everything that it wrote to standard error so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// `kill -9`: it gets no chance to do anything.
    ///
    /// # Panics
    /// If it has ended already.
    pub fn kill_9(mut self) {
        assert!(self.child.try_wait().expect("a child can be asked").is_none(), "it has ended:\n{}", self.said());
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// SIGTERM, and its end.
    ///
    /// # Panics
    /// If it cannot be told.
    pub fn stop(mut self) -> (ExitStatus, String) {
        let told = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status();
        assert!(told.expect("there is a kill command").success());
        let status = self.child.wait().expect("a child that was told ends");
        (status, self.said())
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("the platform said:\n{}", self.said());
        }
    }
}

/// Collects what the child says; the channel gets the URL once it listens.
fn listen(child: &mut Child, said: &Arc<Mutex<String>>) -> Receiver<String> {
    let stderr = child.stderr.take().expect("standard error is a pipe");
    let (sender, urls) = channel();
    let said = Arc::clone(said);
    let collect = move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            {
                let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                said.push_str(&line);
                said.push('\n');
            }
            // It stands behind what the platform says of itself, so whoever has the URL has read that.
            if let Some(url) = line.trim_start().strip_prefix("export TIDEGATE_API=") {
                let _ = sender.send(url.to_owned());
            }
        }
    };
    thread::Builder::new().name("platform-said".into()).spawn(collect).expect("a thread starts");
    urls
}

/// A port that nobody listens on at this moment.
///
/// # Panics
/// If there is none.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    listener.local_addr().expect("a listener has an address").port()
}

/// Somebody who asks a platform through the command, in a folder of its own, with a token of its own.
pub struct Asker<'a> {
    /// Its folder.
    pub folder: &'a Folder,
    /// Where the API is.
    pub url: String,
    /// The token's file, from the folder.
    pub token_file: PathBuf,
}

impl Asker<'_> {
    /// Runs a client command.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn tidegate(&self, args: &[&str]) -> Finished {
        let token_file = self.token_file.to_str().expect("a plain path");
        self.folder.tidegate(&[args, &["--api", &self.url, "--token-file", token_file]].concat())
    }

    /// Runs a client command that must succeed; what it wrote on standard output.
    ///
    /// # Panics
    /// If it does not.
    pub fn must(&self, args: &[&str]) -> String {
        let done = self.tidegate(args);
        assert_eq!(done.status, 0, "tidegate {}: {}", args.join(" "), done.stderr);
        done.stdout
    }
}

/// A plain HTTP client that says what came of each request.
pub struct Http {
    agent: ureq::Agent,
    url: String,
    token: String,
}

impl Http {
    /// A client with a token.
    pub fn new(url: &str, token: &str) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(60)))
            .build();
        Self { agent: config.new_agent(), url: url.to_owned(), token: token.to_owned() }
    }

    /// POST. None: no answer, so whether it was done is not known.
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Option<(u16, String)> {
        let mut request = self.agent.post(format!("{}{path}", self.url));
        request = request.header("authorization", format!("Bearer {}", self.token));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(request.send(body))
    }

    /// GET. None: no answer.
    pub fn get(&self, path: &str) -> Option<(u16, String)> {
        let request = self.agent.get(format!("{}{path}", self.url));
        answer(request.header("authorization", format!("Bearer {}", self.token)).call())
    }
}

fn answer(answered: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Option<(u16, String)> {
    let mut response = answered.ok()?;
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(256 << 20).read_to_string().ok()?;
    Some((status, body))
}
