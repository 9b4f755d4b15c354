//! Records that leave the job beside its panes: too late, duplicate, dead letters.

use std::sync::Arc;

use tidegate_formats::codes;
use tidegate_types::hooks::{ComponentId, GuestFailure};
use tidegate_types::{EventTime, Origin, Value};

use crate::map::NO_TIME;

/// Which side output a record goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideKind {
    /// All its windows were gone.
    TooLate,
    /// Its identity was accepted before.
    Duplicate,
    /// It was rejected.
    DeadLetter,
}

/// A record on its way to a side output, with its reason; the original is shared, not copied.
#[derive(Debug, Clone)]
pub struct Side {
    /// Which output.
    pub kind: SideKind,
    /// The source batch and the record in it; none for a pane that failed.
    pub record: Option<(Arc<Origin>, u32)>,
    /// `too-late`, `duplicate`, or the code of the rejection.
    pub reason: String,
    /// The operator's id.
    pub operator: Arc<str>,
    /// What was wrong, in words; may be empty.
    pub detail: String,
    /// The component whose hook failed.
    pub component: Option<Arc<ComponentId>>,
    /// The fuel that the failing call used.
    pub fuel_used: Option<u64>,
    /// The key fields and the window of a failed pane; the key fields of a failed timer.
    pub pane: Option<FailedPane>,
    /// The timer that failed.
    pub timer: Option<FailedTimer>,
}

/// Where a pane failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPane {
    /// Names and values of the key's fields.
    pub key: Vec<(String, Value)>,
    /// The window's bounds, ms; none for a global window.
    pub window: Option<(i64, i64)>,
}

/// Which timer failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedTimer {
    /// Its name in the hook's plan.
    pub name: String,
    /// The time that it was set to, ms.
    pub time: i64,
}

/// Why a record is condemned: what its dead letter says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condemned {
    pub(crate) code: String,
    pub(crate) detail: String,
    pub(crate) component: Option<Arc<ComponentId>>,
    pub(crate) fuel_used: Option<u64>,
}

impl Condemned {
    /// Condemned by the host.
    pub(crate) fn by_host(code: &str, detail: String) -> Self {
        Self { code: code.to_owned(), detail, component: None, fuel_used: None }
    }

    /// Condemned because the hook failed on it.
    pub(crate) fn by_failure(component: &Arc<ComponentId>, failure: GuestFailure) -> Self {
        Self {
            code: failure.code.to_owned(),
            detail: failure.detail,
            component: Some(Arc::clone(component)),
            fuel_used: Some(failure.fuel_used),
        }
    }

    /// Refused by the hook in so many words. (That call's fuel says nothing of this record: it had neighbours.)
    pub(crate) fn by_guest(component: &Arc<ComponentId>, code: String, detail: String) -> Self {
        Self { code, detail, component: Some(Arc::clone(component)), fuel_used: None }
    }

    /// Condemned because nothing gave the row a valid time.
    pub(crate) fn without_time(time: EventTime) -> Self {
        let detail = if time == NO_TIME {
            "the map hook gave this row no time, and the pipeline names no timestamp_field".to_owned()
        } else {
            format!("the map hook gave this row the time {time} ms, outside the years 0001 to 9999")
        };
        Self::by_host(codes::BAD_TIME, detail)
    }

    /// Its dead letter.
    pub(crate) fn into_side(self, origin: &Arc<Origin>, record: u32, operator: &Arc<str>) -> Side {
        Side {
            kind: SideKind::DeadLetter,
            record: Some((Arc::clone(origin), record)),
            reason: self.code,
            operator: Arc::clone(operator),
            detail: self.detail,
            component: self.component,
            fuel_used: self.fuel_used,
            pane: None,
            timer: None,
        }
    }
}

impl Side {
    /// A too-late or duplicate record.
    pub(crate) fn plain(kind: SideKind, origin: &Arc<Origin>, record: u32, operator: &Arc<str>) -> Self {
        let reason = match kind {
            SideKind::TooLate => "too-late",
            SideKind::Duplicate => "duplicate",
            SideKind::DeadLetter => "rejected",
        };
        Self {
            kind,
            record: Some((Arc::clone(origin), record)),
            reason: reason.to_owned(),
            operator: Arc::clone(operator),
            detail: String::new(),
            component: None,
            fuel_used: None,
            pane: None,
            timer: None,
        }
    }
}
