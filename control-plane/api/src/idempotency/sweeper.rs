//! Removes what counts no more, and the oldest where a tenant keeps too much: each new key looks at the oldest of its folder.
//!
//! Invariant: a folder holds at most [`MAX_KEPT`] records beside those of requests that run, whatever a tenant sends; nothing
//! has to run by the clock. What a folder holds is read from the store once and followed from then on.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tidegate_store::Document;
use tidegate_types::EventTime;

use super::record::{Record, State};
use super::{KIND, delete};
use crate::problem::Answer;
use crate::services::Shared;

/// The most records of a folder. One more lets the oldest go: its key is new again.
pub(crate) const MAX_KEPT: usize = 1_000;
/// So many of the oldest records are looked at for each new key.
const LOOKED_AT: usize = 4;
/// So many folders are followed; beyond, all are read anew.
const MAX_FOLDERS: usize = 1_000;
/// Records that are read from the store at once.
const PAGE: usize = 200;

/// What the folders hold.
#[derive(Default)]
pub(crate) struct Sweeper(Mutex<BTreeMap<String, Arc<tokio::sync::Mutex<Folder>>>>);

/// What a folder holds: when each record's key was taken, by its place. None: not read yet.
#[derive(Default)]
struct Folder(Option<BTreeMap<String, EventTime>>);

impl Sweeper {
    /// Makes room in a folder for one more record, as far as its oldest ones may go.
    pub(super) async fn sweep(&self, api: &Shared, folder: &str) -> Answer<()> {
        let known = self.folder(folder);
        let mut known = known.lock().await;
        let kept = known.read(api, folder).await?;
        for _ in 0..LOOKED_AT {
            let Some(oldest) = kept.iter().min_by_key(|(_, at)| **at).map(|(place, _)| place.clone()) else { break };
            let is_full = kept.len() >= MAX_KEPT;
            if let Some(found) = api.services.store.get(KIND, &oldest).await? {
                match judge(&found, api.services.clock.now(), is_full) {
                    Fate::Goes => delete(api, &found).await?,
                    Fate::Stays => break,
                    Fate::Unread => {}
                }
            }
            kept.remove(&oldest);
        }
        Ok(())
    }

    /// A record was written.
    pub(super) async fn came(&self, folder: &str, place: &str, at: EventTime) {
        if let Some(kept) = &mut self.folder(folder).lock().await.0 {
            kept.insert(place.to_owned(), at);
        }
    }

    /// A record was deleted.
    pub(super) async fn went(&self, folder: &str, place: &str) {
        if let Some(kept) = &mut self.folder(folder).lock().await.0 {
            kept.remove(place);
        }
    }

    fn folder(&self, folder: &str) -> Arc<tokio::sync::Mutex<Folder>> {
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.len() >= MAX_FOLDERS && !folders.contains_key(folder) {
            folders.clear();
        }
        Arc::clone(folders.entry(folder.to_owned()).or_default())
    }
}

impl Folder {
    async fn read(&mut self, api: &Shared, folder: &str) -> Answer<&mut BTreeMap<String, EventTime>> {
        if self.0.is_none() {
            let mut kept = BTreeMap::new();
            loop {
                let after = kept.last_key_value().map(|(place, _): (&String, _)| place.clone());
                let page = api.services.store.list(KIND, folder, after.as_deref(), PAGE).await?;
                let is_last = page.len() < PAGE;
                // What cannot be read stays for somebody to look at; it is not the oldest, so that it holds up nothing.
                let at = |found: &Document| Record::from_json(&found.body).map_or(EventTime::MAX, |record| record.at);
                kept.extend(page.into_iter().map(|found| (found.path.clone(), at(&found))));
                if is_last {
                    break;
                }
            }
            self.0 = Some(kept);
        }
        Ok(self.0.as_mut().expect("it was read"))
    }
}

/// What becomes of a folder's oldest record.
enum Fate {
    Goes,
    Stays,
    /// It cannot be read, and is left for somebody to look at.
    Unread,
}

fn judge(found: &Document, now: EventTime, is_full: bool) -> Fate {
    match Record::from_json(&found.body) {
        Ok(record) if record.is_over(now) => Fate::Goes,
        // A request that runs keeps its key.
        Ok(Record { state: State::Done(_), .. }) if is_full => Fate::Goes,
        Ok(_) => Fate::Stays,
        Err(_) => Fate::Unread,
    }
}
