//! Where a drill happens: a data folder, the process that works on it, and a client of the tenant.
//!
//! The tenant, its key and its components are the same for all drills, so they are made once, in a template that each site
//! is a copy of. Invariant: a site's process never outlives it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tidegate_e2e::platform::{Asker, Http, Platform};
use tidegate_e2e::{Folder, guest};

/// The components that the workloads name.
const COMPONENTS: [&str; 3] = ["campaign-metrics", "scripted-processor", "trading-sessions"];
/// The tenant.
const TENANT: &str = "acme";

/// A data folder with a tenant who has handed its components in.
pub struct Template {
    folder: Folder,
}

impl Template {
    /// Makes it, with a platform of its own.
    ///
    /// # Panics
    /// If the platform refuses something.
    pub fn new() -> Self {
        let folder = Folder::new();
        let platform = Platform::start(&folder.path().join("data"), 0);
        let admin = Asker { folder: &folder, url: platform.url.clone(), token_file: platform.admin_token_file() };
        admin.must(&["tenant", "create", TENANT]);
        admin.must(&["token", "create", TENANT, "--role", "tenant-admin", "--output", "token"]);
        let tenant = Asker { folder: &folder, url: platform.url.clone(), token_file: folder.path().join("token") };
        folder.tidegate(&["keygen", "--out", TENANT]).success();
        tenant.must(&["key", "add", TENANT, &format!("{TENANT}.pub")]);
        COMPONENTS.iter().for_each(|name| push(&tenant, name));
        let (status, said) = platform.stop();
        assert!(status.success(), "{said}");
        Self { folder }
    }

    /// A site of its own, where nothing runs yet.
    ///
    /// # Panics
    /// If the disk is full.
    pub(crate) fn site(&self) -> Site {
        let folder =
            tempfile::Builder::new().prefix("tidegate-drill.").tempdir().expect("a folder for temporary files");
        copy(&self.folder.path().join("data"), &folder.path().join("data"));
        let token = self.folder.read("token").trim().to_owned();
        Site { folder, platform: None, token, said: String::new() }
    }
}

impl Default for Template {
    fn default() -> Self {
        Self::new()
    }
}

/// Signs a component and hands it in.
fn push(tenant: &Asker<'_>, name: &str) {
    let (component, key) = (guest(name), format!("{TENANT}.key"));
    let component = component.to_str().expect("a plain path");
    let envelope = format!("{name}.dsse.json");
    let sign = ["sign", component, "--key", &key, "--tenant", TENANT, "--name", name, "--version", "1.0.0"];
    tenant.folder.tidegate(&[&sign[..], &["--out", &envelope]].concat()).success();
    tenant.must(&["artifact", "push", component, "--signature", &envelope]);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder can be read") {
        let entry = entry.expect("a folder can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a file has a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a file can be copied");
        }
    }
}

/// A data folder, and what runs on it.
pub(crate) struct Site {
    folder: TempDir,
    platform: Option<(Platform, Http)>,
    token: String,
    said: String,
}

impl Site {
    /// Launches a process, told to die at a point if one is named (`NAME:COUNT`).
    pub(crate) fn launch(&mut self, fault: Option<&str>) {
        self.kill();
        let fault = fault.map(|fault| ("TIDEGATE_FAULT", fault));
        let platform = Platform::launch(&self.data(), &["--listen", "127.0.0.1:0"], fault.as_slice());
        self.platform = Some((platform, Http::new("", "")));
    }

    /// Waits until the launched process listens. False: it has ended, or does not come to it.
    pub(crate) fn listens(&mut self) -> bool {
        let Some((platform, http)) = &mut self.platform else { return false };
        let listens = platform.listens();
        *http = Http::new(&platform.url, &self.token);
        listens
    }

    /// Whether the process ends by itself within this time.
    pub(crate) fn ends_within(&mut self, patience: Duration) -> bool {
        self.platform.as_mut().is_none_or(|(platform, _)| platform.ends_within(patience))
    }

    /// Kills the process, if there is one that has not ended: it gets no chance to do anything.
    pub(crate) fn kill(&mut self) {
        if let Some((platform, _)) = self.platform.take() {
            self.said.push_str(&platform.said());
            self.said.push_str("---\n");
            drop(platform);
        }
    }

    /// The tenant's client of the process that listens.
    pub(crate) fn http(&self) -> Option<&Http> {
        self.platform.as_ref().map(|(_, http)| http)
    }

    /// Everything that its processes said.
    pub(crate) fn said(&self) -> String {
        let now = self.platform.as_ref().map(|(platform, _)| platform.said());
        format!("{}{}", self.said, now.unwrap_or_default())
    }

    /// Where the platform keeps its data.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Ends the process and leaves everything for somebody to look at.
    pub(crate) fn keep(mut self) -> PathBuf {
        self.kill();
        // What cannot be written is not there to be looked at; the drill's result stands without it.
        let _ = fs::write(self.folder.path().join("said.log"), &self.said);
        self.folder.keep()
    }
}
