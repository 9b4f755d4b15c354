//! Which of two results is newer, and what a sink's records say about that.
//!
//! Invariant: versions are compared in the order precedence, restore epoch, pane index. So a replay after a restart
//! overwrites what the run before had written, and a backfill of a lower precedence never replaces newer truth.

use crate::pane::Timing;

/// How new a result is. The greater is the newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Version {
    /// The precedence of the job that wrote it.
    pub precedence: i32,
    /// The number of that job's start; 0 where a job has one start only.
    pub restore_epoch: u64,
    /// The pane's index within its key and window; 0 for a row without a window.
    pub pane_index: u64,
}

/// What records say besides their fields, their window and their watermark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// The version: precedence, restore epoch, pane index.
    pub version: bool,
    /// Whether the result is provisional, on time or corrected.
    pub completeness: bool,
    /// The clock at the firing.
    pub generated_at: bool,
}

/// What a sink stamps its records with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamping {
    /// What the records say.
    pub stamp: Stamp,
    /// The job's precedence.
    pub precedence: i32,
    /// The number of the job's start.
    pub restore_epoch: u64,
}

impl Stamping {
    /// The version of a pane with this index.
    #[must_use]
    pub const fn version(&self, pane_index: u64) -> Version {
        Version { precedence: self.precedence, restore_epoch: self.restore_epoch, pane_index }
    }
}

impl Timing {
    /// What `completeness` says of a pane of this timing.
    #[must_use]
    pub const fn completeness(self) -> &'static str {
        match self {
            Self::Early => "provisional",
            Self::OnTime => "on_time",
            Self::Late => "corrected",
        }
    }
}
