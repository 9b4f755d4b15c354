//! A job as its checkpoints see it: subtasks with files that never change and files that always do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path as Location;
use object_store::{ObjectStore, ObjectStoreExt};
use tempfile::TempDir;
use tidegate_checkpoint::{
    CheckpointError, CheckpointStore, JobPlace, Manifest, NewCheckpoint, OperatorPart, Pointers, SinkPart,
    StoreOptions, snapshot_folder,
};
use tidegate_state::StateFile;
use tokio::runtime::{Builder, Runtime};

use crate::chance::Chance;
use crate::faulty::{Faults, FaultyPointers, FaultyStore};

pub(crate) const GROUPS: u32 = 16;
pub(crate) const OPERATORS: [&str; 2] = ["window", "join/ä -1"];

/// The names and contents of a subtask's files.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;
/// Of all subtasks.
pub(crate) type Content = BTreeMap<(String, u32), Files>;

/// The world of a job.
pub(crate) struct Job {
    pub(crate) runtime: Runtime,
    pub(crate) store: FaultyStore,
    pub(crate) pointers: Arc<FaultyPointers>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) folder: TempDir,
    /// The live files of each subtask that never change.
    live: BTreeMap<(String, u32), BTreeSet<String>>,
    subtasks: u32,
    /// The number of the next file, and of the folder that the live files are in.
    next_file: u64,
    generation: u64,
}

impl Job {
    pub(crate) fn new(seed: u64) -> Self {
        let faults = Faults::new(seed);
        let store = FaultyStore { inner: Arc::new(InMemory::new()), faults: Arc::clone(&faults) };
        Self {
            runtime: Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime"),
            store,
            pointers: FaultyPointers::new(Arc::clone(&faults)),
            faults,
            folder: tempfile::tempdir().expect("a folder"),
            live: BTreeMap::new(),
            subtasks: 2,
            next_file: 1,
            generation: 0,
        }
    }

    pub(crate) fn place() -> JobPlace {
        JobPlace { tenant: "acme".to_owned(), job: "clicks".to_owned(), version: 1 }
    }

    pub(crate) fn open(&self, epoch: u64) -> Result<CheckpointStore, CheckpointError> {
        let options = StoreOptions { part_bytes: 64, concurrent: 3, ..StoreOptions::default() };
        let pointers: Arc<dyn Pointers> = self.pointers.clone();
        let (store, runtime) = (Arc::new(self.store.clone()), self.runtime.handle().clone());
        CheckpointStore::open(store, pointers, runtime, Self::place(), epoch, options)
    }

    pub(crate) fn local(&self) -> PathBuf {
        self.folder.path().join("local")
    }

    fn live_folder(&self, key: &(String, u32)) -> PathBuf {
        let at = OPERATORS.iter().position(|operator| *operator == key.0).expect("one of them");
        self.folder.path().join(format!("live-{}-{at}-{}", self.generation, key.1))
    }

    /// The key groups of a subtask.
    pub(crate) fn groups(&self, subtask: u32) -> Range<u32> {
        let width = GROUPS / self.subtasks;
        subtask * width..(subtask + 1) * width
    }

    /// Some rows pass: files come and go.
    pub(crate) fn work(&mut self, chance: &mut Chance) {
        for key in self.keys() {
            let folder = self.live_folder(&key);
            fs::create_dir_all(&folder).expect("a folder");
            let live = self.live.entry(key).or_default();
            while live.len() > 1 && chance.one_in(3) {
                let first = live.pop_first().expect("one");
                fs::remove_file(folder.join(first)).expect("it was there");
            }
            for _ in 0..chance.below(3) {
                let name = format!("{:06}.sst", self.next_file);
                self.next_file += 1;
                let len = [0, 10, 64, 65, 200][usize::try_from(chance.below(5)).expect("small")];
                fs::write(folder.join(&name), chance.bytes(len)).expect("written");
                live.insert(name);
            }
        }
    }

    fn keys(&self) -> Vec<(String, u32)> {
        let subtasks = 0..self.subtasks;
        OPERATORS.iter().flat_map(|of| subtasks.clone().map(|subtask| ((*of).to_owned(), subtask))).collect()
    }

    /// A checkpoint of what is live now, and its content.
    pub(crate) fn snapshot(&self, checkpoint: u64, chance: &mut Chance) -> (NewCheckpoint, Content) {
        let mut content = Content::new();
        let mut operators = Vec::new();
        let _ = fs::remove_dir_all(self.local().join(format!("chk-{checkpoint}")));
        for key in self.keys() {
            let folder = snapshot_folder(&self.local(), checkpoint, &key.0, key.1);
            fs::create_dir_all(&folder).expect("a folder");
            let mut files = Vec::new();
            let mut here = Files::new();
            for name in self.live.get(&key).into_iter().flatten() {
                fs::hard_link(self.live_folder(&key).join(name), folder.join(name)).expect("linked");
                here.insert(name.clone(), fs::read(folder.join(name)).expect("read"));
            }
            // Always of one length: only its content tells it apart.
            here.insert("CURRENT".to_owned(), chance.bytes(16));
            fs::write(folder.join("CURRENT"), &here["CURRENT"]).expect("written");
            for (name, bytes) in &here {
                let shared = name != "CURRENT";
                files.push(StateFile { name: name.clone(), bytes: bytes.len() as u64, shared });
            }
            let (operator, subtask) = key.clone();
            let head = checkpoint.to_le_bytes().to_vec();
            let groups = self.groups(subtask);
            operators.push(OperatorPart { operator, subtask, groups, head, folder, files });
            content.insert(key, here);
        }
        (new_checkpoint(checkpoint, operators), content)
    }

    /// The process is gone, and a new run has fetched this. Its files are linked into the backends under the names that they had;
    /// or copied, so that names are given again to other contents, perhaps to another number of subtasks.
    pub(crate) fn restart(&mut self, content: Option<&Content>, linked: bool, chance: &mut Chance) {
        let _ = fs::remove_dir_all(self.local());
        self.generation += 1;
        self.live.clear();
        let content = content.cloned().unwrap_or_default();
        if !linked {
            self.subtasks = [1, 2, 4][usize::try_from(chance.below(3)).expect("small")];
            self.next_file = 1;
            return;
        }
        self.subtasks = u32::try_from(content.len() / OPERATORS.len()).expect("few").max(1);
        // A run begins to number its files where the one that it goes on from was.
        self.next_file = 1;
        for (key, files) in content {
            let folder = self.live_folder(&key);
            fs::create_dir_all(&folder).expect("a folder");
            for (name, bytes) in files.into_iter().filter(|(name, _)| name != "CURRENT") {
                fs::write(folder.join(&name), bytes).expect("written");
                let number: u64 = name.trim_end_matches(".sst").parse().expect("a number");
                self.next_file = self.next_file.max(number + 1);
                self.live.entry(key.clone()).or_default().insert(name);
            }
        }
    }

    /// What is fetched of a checkpoint, whole.
    pub(crate) fn fetched(&self, store: &CheckpointStore, manifest: &Manifest, local: Option<&Path>) -> Content {
        let mut content = Content::new();
        for operator in OPERATORS {
            let into = self.folder.path().join("into");
            let parts = store.fetch(manifest, operator, 0..GROUPS, &into, local).expect("fetched");
            let of = manifest.operators.iter().filter(|part| part.operator == operator);
            for (part, stored) in parts.into_iter().zip(of) {
                assert_eq!(part.groups, stored.groups);
                content.insert((operator.to_owned(), stored.subtask), read_folder(&part.folder));
            }
        }
        content
    }

    /// The objects that are in the store, behind the job's folder.
    pub(crate) fn objects(&self) -> BTreeSet<String> {
        self.folder_of("files").into_iter().chain(self.folder_of("manifests")).collect()
    }

    fn folder_of(&self, name: &str) -> Vec<String> {
        let prefix = Location::from(format!("tenants/acme/jobs/clicks/v1/checkpoints/{name}"));
        let inner = Arc::clone(&self.store.inner);
        let listed =
            self.runtime.block_on(async move { inner.list_with_delimiter(Some(&prefix)).await }).expect("listed");
        listed
            .objects
            .into_iter()
            .map(|object| format!("{name}/{}", object.location.filename().expect("a name")))
            .collect()
    }

    /// What the pointer leads to: the kept manifests and what they name.
    pub(crate) fn named(&self) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        for id in self.pointers.peek().kept {
            let name = format!("manifests/{:020}-{}.json", id.checkpoint, id.epoch);
            let json: serde_json::Value = serde_json::from_slice(&self.object(&name)).expect("JSON");
            let parts = json["operators"].as_array().expect("a list").iter();
            let files = parts.flat_map(|part| part["files"].as_array().expect("a list"));
            named.extend(files.map(|file| format!("files/{}", file["object"].as_str().expect("a name"))));
            named.insert(name);
        }
        named
    }

    pub(crate) fn at(name: &str) -> Location {
        Location::from(format!("tenants/acme/jobs/clicks/v1/checkpoints/{name}"))
    }

    /// An object's content.
    pub(crate) fn object(&self, name: &str) -> Vec<u8> {
        let (inner, at) = (Arc::clone(&self.store.inner), Self::at(name));
        self.runtime.block_on(async move { inner.get(&at).await?.bytes().await }).expect("it is there").to_vec()
    }

    /// Somebody else puts this there.
    pub(crate) fn overwrite(&self, name: &str, content: Vec<u8>) {
        let (inner, at) = (Arc::clone(&self.store.inner), Self::at(name));
        self.runtime.block_on(async move { inner.put(&at, content.into()).await }).expect("put");
    }

    /// Somebody else deletes it.
    pub(crate) fn remove(&self, name: &str) {
        let (inner, at) = (Arc::clone(&self.store.inner), Self::at(name));
        self.runtime.block_on(async move { inner.delete(&at).await }).expect("deleted");
    }
}

pub(crate) fn new_checkpoint(checkpoint: u64, operators: Vec<OperatorPart>) -> NewCheckpoint {
    NewCheckpoint {
        checkpoint,
        taken_at: 1_700_000_000_000,
        max_parallelism: GROUPS,
        finished: operators.is_empty(),
        source: checkpoint.to_be_bytes().to_vec(),
        sinks: vec![SinkPart { name: "out".to_owned(), prepared: Some(vec![1]) }],
        account: b"account".to_vec(),
        operators,
    }
}

fn read_folder(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).expect("a folder");
    let named = entries.map(|entry| {
        let entry = entry.expect("an entry");
        (entry.file_name().into_string().expect("text"), fs::read(entry.path()).expect("read"))
    });
    named.collect()
}
