//! Custom windows by the page, record by record: slow, and without any of the engine's code.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_types::hooks::Decision;
use tidegate_types::{Timing, Watermark};

use super::job::{Ran, at};
use super::script::{Asked, Row, Said, Shown};

/// What a hook says of something, by a seed.
pub(super) type Says<I, O> = fn(u64, &I) -> Said<O>;

/// What a hook says, as plain functions.
#[derive(Clone, Copy)]
pub(super) struct Hook {
    pub(super) assign: Says<Row, Vec<(i64, i64)>>,
    pub(super) decide: Says<Asked, Decision>,
    /// None: a pane's value goes out as it is.
    pub(super) emit: Option<Says<Shown, Vec<String>>>,
    /// The first argument of each.
    pub(super) seed: u64,
}

/// A record.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) key: String,
    pub(super) row: Row,
    pub(super) id: Option<i64>,
    /// The watermark that it claims.
    pub(super) claim: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Accumulating,
    Discarding,
    Retracting,
}

/// A window that is kept: by key, end, start.
type Place = (String, i64, i64);

#[derive(Default)]
struct Kept {
    records: Vec<usize>,
    since_last_pane: i64,
    index: u64,
    has_ended: bool,
    standing: Vec<String>,
}

pub(super) struct Model {
    hook: Hook,
    lateness: i64,
    mode: Mode,
    horizon: Option<i64>,
    watermark: Watermark,
    windows: BTreeMap<Place, Kept>,
    identities: BTreeMap<(String, i64), i64>,
    /// In how many windows each record is.
    held: BTreeMap<usize, usize>,
    shown: BTreeSet<usize>,
    panes: Vec<(String, String)>,
    ran: Ran,
}

impl Model {
    pub(super) fn new(hook: Hook, lateness: i64, mode: Mode, horizon: Option<i64>) -> Self {
        Self {
            hook,
            lateness,
            mode,
            horizon,
            watermark: Watermark::MIN,
            windows: BTreeMap::new(),
            identities: BTreeMap::new(),
            held: BTreeMap::new(),
            shown: BTreeSet::new(),
            panes: Vec::new(),
            ran: Ran::default(),
        }
    }

    pub(super) fn run(mut self, records: &[Record]) -> Ran {
        for (number, record) in records.iter().enumerate() {
            self.ran.account.read += 1;
            self.record(number, record);
            if let Some(claim) = record.claim {
                self.advance(Watermark::at(claim));
            }
        }
        self.advance(Watermark::MAX);
        assert!(self.windows.is_empty() && self.held.is_empty());
        self.panes.sort_by(|a, b| a.0.cmp(&b.0));
        self.ran.panes = self.panes.into_iter().map(|(_, line)| line).collect();
        self.ran.sides.sort();
        self.ran
    }

    fn side(&mut self, reason: &str, number: usize) {
        self.ran.sides.push(format!("{reason} mine #{number}"));
    }

    fn is_gone(&self, end: i64) -> bool {
        self.watermark.reached(end + self.lateness)
    }

    fn record(&mut self, number: usize, record: &Record) {
        let windows = match (self.hook.assign)(self.hook.seed, &record.row) {
            Ok(windows) => windows,
            Err(code) => {
                self.ran.account.rejected += 1;
                return self.side(code, number);
            }
        };
        if windows.is_empty() {
            self.ran.account.filtered += 1;
            return;
        }
        let all: BTreeSet<(i64, i64)> = windows.iter().map(|(start, end)| (*end, *start)).collect();
        let kept: Vec<(i64, i64)> = all.iter().copied().filter(|(end, _)| !self.is_gone(*end)).collect();
        if kept.is_empty() {
            self.ran.account.too_late += 1;
            return self.side("too-late", number);
        }
        if let (Some(horizon), Some(id)) = (self.horizon, record.id)
            && let Some(before) = self.identities.get(&(record.key.clone(), id))
            && !self.watermark.reached(before + horizon)
        {
            self.ran.account.duplicate += 1;
            return self.side("duplicate", number);
        }
        let decided: Said<Vec<Decision>> =
            kept.iter().map(|(end, start)| self.decide(&record.key, (*start, *end), 1)).collect();
        let decisions = match decided {
            Ok(decisions) => decisions,
            Err(code) => {
                self.ran.account.rejected += 1;
                return self.side(code, number);
            }
        };
        self.ran.account.accepted += 1;
        self.ran.account.partly_late += u64::from(kept.len() < all.len());
        if let Some(id) = record.id {
            self.identities.insert((record.key.clone(), id), record.row.time);
        }
        self.held.insert(number, kept.len());
        for (end, start) in &kept {
            let has_ended = self.watermark.reached(*end);
            let window = self
                .windows
                .entry((record.key.clone(), *end, *start))
                .or_insert_with(|| Kept { has_ended, ..Kept::default() });
            window.records.push(number);
            window.since_last_pane += 1;
        }
        let places = kept.iter().map(|(end, start)| (record.key.clone(), *end, *start));
        self.carry_out(places.zip(decisions).collect(), None);
    }

    fn decide(&self, key: &str, window: (i64, i64), count: u32) -> Said<Decision> {
        let asked = Asked { key: key.to_owned(), window, count, watermark: self.watermark };
        (self.hook.decide)(self.hook.seed, &asked)
    }

    /// Panes first, then purges. `timing`: none for that of each window.
    fn carry_out(&mut self, decisions: Vec<(Place, Decision)>, timing: Option<Timing>) {
        let mut purges = Vec::new();
        for (place, decision) in decisions {
            let window = &self.windows[&place];
            let timing = timing.unwrap_or(if window.has_ended { Timing::Late } else { Timing::Early });
            let fires = matches!(decision, Decision::Fire | Decision::FireAndPurge);
            let succeeded = !fires || self.fire(&place, timing);
            if succeeded && matches!(decision, Decision::Purge | Decision::FireAndPurge) {
                purges.push(place);
            }
        }
        for place in purges {
            self.purge(&place);
        }
    }

    fn fire(&mut self, place: &Place, timing: Timing) -> bool {
        let (key, end, start) = place;
        let is_last = if self.is_gone(*end) { "!" } else { "" };
        let window = self.windows.get_mut(place).expect("it is kept");
        let count = i64::try_from(window.records.len()).expect("few records");
        let value = if self.mode == Mode::Discarding { window.since_last_pane } else { count };
        let rows = match self.hook.emit {
            None => vec![value.to_string()],
            Some(emit) => {
                let shown = Shown { key: key.clone(), window: (*start, *end), timing, index: window.index, value };
                let Ok(rows) = emit(self.hook.seed, &shown) else {
                    self.ran.sides.push(format!("pane-failed mine {key} [{start},{end})"));
                    self.ran.account.failed_panes += 1;
                    return false;
                };
                rows
            }
        };
        let (name, index, watermark) = (timing.name(), window.index, at(self.watermark));
        let lines: Vec<String> = rows
            .iter()
            .map(|row| format!("{key} [{start},{end}) {row} {name} {index}{is_last} @{watermark}"))
            .collect();
        if self.mode == Mode::Retracting {
            for line in &window.standing {
                self.panes.push((key.clone(), format!("-{line}")));
                self.ran.account.retractions += 1;
            }
        }
        self.panes.extend(lines.iter().map(|line| (key.clone(), line.clone())));
        window.standing = lines;
        window.index += 1;
        window.since_last_pane = 0;
        self.shown.extend(&window.records);
        match timing {
            Timing::Early => self.ran.account.panes_early += 1,
            Timing::OnTime => self.ran.account.panes_on_time += 1,
            Timing::Late => self.ran.account.panes_late += 1,
        }
        true
    }

    fn purge(&mut self, place: &Place) {
        for record in self.windows.remove(place).expect("it is kept").records {
            let windows = self.held.get_mut(&record).expect("it is held");
            *windows -= 1;
            if *windows == 0 {
                self.held.remove(&record);
                self.ran.account.unshown += u64::from(!self.shown.contains(&record));
            }
        }
    }

    fn advance(&mut self, to: Watermark) {
        if to <= self.watermark {
            return;
        }
        self.watermark = to;
        let ended: Vec<Place> = self
            .windows
            .iter()
            .filter(|((_, end, _), window)| !window.has_ended && to.reached(*end))
            .map(|(place, _)| place.clone())
            .collect();
        let mut decisions = Vec::new();
        for place in ended {
            self.windows.get_mut(&place).expect("it is kept").has_ended = true;
            match self.decide(&place.0, (place.2, place.1), 0) {
                Ok(decision) => decisions.push((place, decision)),
                Err(_) => {
                    let (key, end, start) = place;
                    self.ran.sides.push(format!("pane-failed mine {key} [{start},{end})"));
                    self.ran.account.failed_panes += 1;
                }
            }
        }
        self.carry_out(decisions, Some(Timing::OnTime));
        let gone: Vec<Place> = self.windows.keys().filter(|(_, end, _)| self.is_gone(*end)).cloned().collect();
        for place in gone {
            self.purge(&place);
        }
    }
}
