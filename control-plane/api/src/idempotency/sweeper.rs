//! Removes what counts no more: each new key looks at a few old ones of its folder.
//!
//! Invariant: a folder with `n` records is looked through once in `n / LOOKED_AT` new keys, so it holds what was kept in the
//! last 24 hours and a bounded remainder, without a task that would have to run by the clock.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{KIND, forget};
use crate::problem::Answer;
use crate::services::Shared;

/// So many records are looked at for each new key.
const LOOKED_AT: usize = 4;
/// So many folders have a position; beyond, all begin again.
const MAX_FOLDERS: usize = 10_000;

/// How far each folder was looked through.
#[derive(Debug, Default)]
pub(crate) struct Sweeper(Mutex<BTreeMap<String, String>>);

impl Sweeper {
    pub(super) async fn sweep(&self, api: &Shared, folder: &str) -> Answer<()> {
        let after = self.position(folder);
        let found = api.services.store.list(KIND, folder, after.as_deref(), LOOKED_AT).await?;
        self.go_on(folder, found.last().map(|last| last.path.clone()));
        for record in &found {
            forget(api, record).await?;
        }
        Ok(())
    }

    fn position(&self, folder: &str) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(folder).cloned()
    }

    /// At the end of the folder it begins again.
    fn go_on(&self, folder: &str, last: Option<String>) {
        let mut positions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if positions.len() >= MAX_FOLDERS {
            positions.clear();
        }
        match last {
            Some(last) => positions.insert(folder.to_owned(), last),
            None => positions.remove(folder),
        };
    }
}
