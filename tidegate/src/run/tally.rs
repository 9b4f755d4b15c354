//! The account of a run as it goes on: what is left to say of a run whose reader leaves before its end.

use std::sync::{Arc, Mutex, PoisonError};

use tidegate_dataflow::Account;
use tidegate_types::{PaneBatch, RowBatch};
use tidegate_worker::{Observer, RunProgress};

/// Keeps the last account, and passes on to somebody else who watches.
pub(super) struct Tally {
    account: Arc<Mutex<Account>>,
    watcher: Option<Box<dyn Observer>>,
}

impl Tally {
    /// The observer for the engine, and where the account is.
    pub(super) fn before(watcher: Option<Box<dyn Observer>>) -> (Box<dyn Observer>, Arc<Mutex<Account>>) {
        let account = Arc::default();
        (Box::new(Self { account: Arc::clone(&account), watcher }), account)
    }
}

/// The account so far.
pub(super) fn so_far(account: &Mutex<Account>) -> Account {
    *account.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Tally {
    fn panes(&mut self, sink: usize, panes: &PaneBatch) {
        if let Some(watcher) = &mut self.watcher {
            watcher.panes(sink, panes);
        }
    }

    fn rows(&mut self, sink: usize, rows: &RowBatch) {
        if let Some(watcher) = &mut self.watcher {
            watcher.rows(sink, rows);
        }
    }

    fn progress(&mut self, progress: &RunProgress) {
        *self.account.lock().unwrap_or_else(PoisonError::into_inner) = progress.account;
        if let Some(watcher) = &mut self.watcher {
            watcher.progress(progress);
        }
    }
}
