//! Section 6: interval joins and window joins, over a list of the rows that are kept.
//!
//! Invariant: a kept row may still meet a partner, or comes out alone when it is dropped.

use super::graph::{Desk, Operator, Refusal, Row, instant};
use super::{MINUS_INFINITY, PLUS_INFINITY};
use crate::json::Value;
use crate::time::Time;

const SIDES: [&str; 2] = ["left", "right"];

#[derive(Clone)]
struct Kept {
    side: usize, // 0 left, 1 right
    key: Vec<Value>,
    time: Time,
    fields: Value,
    arrival: usize,
    matched: bool,
}

pub(super) struct Join {
    desk: Desk,
    kept: Vec<Kept>,
    arrived: usize,
}

impl Join {
    pub(super) fn new(desk: Desk) -> Self {
        Join { desk, kept: Vec::new(), arrived: 0 }
    }

    fn interval(&self) -> bool {
        self.desk.spec.text("type") == "interval"
    }

    /// The windows of a row that are not gone.
    fn windows(&self, time: Time) -> Vec<(Time, Time)> {
        let mut windows = self.desk.spec.grid(time);
        windows.retain(|(_, end)| end + self.lateness() > self.desk.watermark);
        windows.sort_by_key(|(start, end)| (*end, *start));
        windows
    }

    fn lateness(&self) -> Time {
        self.desk.spec.duration("allowed_lateness")
    }

    /// "A left row is dropped when `W > time + upper + L`, a right row when `W > time - lower + L`".
    fn useful_until(&self, row: &Kept) -> Time {
        let (lower, upper) = (self.desk.spec.duration("lower"), self.desk.spec.duration("upper"));
        row.time + if row.side == 0 { upper } else { -lower } + self.lateness()
    }

    /// Whether two rows of an interval join meet: `right.time` in `[left.time + lower, left.time + upper]`.
    fn meet(&self, a: &Kept, b: &Kept) -> bool {
        let (left, right) = if a.side == 0 { (a, b) } else { (b, a) };
        let distance = right.time - left.time;
        same_key(a, b) && self.desk.spec.duration("lower") <= distance && distance <= self.desk.spec.duration("upper")
    }

    /// The kept rows of the other side that fulfil a condition, in order of time, then arrival.
    fn partners(&self, row: &Kept, condition: impl Fn(&Kept) -> bool) -> Vec<Kept> {
        let mut partners: Vec<Kept> =
            self.kept.iter().filter(|p| p.side != row.side && condition(p)).cloned().collect();
        partners.sort_by_key(|p| (p.time, p.arrival));
        partners
    }

    /// Puts out a pair, or a row alone.
    fn emit(&mut self, rows: [Option<&Kept>; 2], time: Time) {
        let selected = self.desk.spec.0.get("select").members();
        let field = |(name, from): (&str, &Value)| {
            let (side, field) = from.as_str().and_then(|from| from.split_once('.')).expect("a side and a field");
            let row = if side == SIDES[0] { rows[0] } else { rows[1] };
            (name.to_owned(), row.map_or(Value::Null, |row| row.fields.get(field).clone()))
        };
        let fields: Vec<(String, Value)> = selected.map(field).collect();
        let about = [("time".to_owned(), instant(time)), ("watermark".to_owned(), instant(self.desk.watermark))];
        let line = Value::obj(fields.clone().into_iter().chain(about));
        let key = rows[0].or(rows[1]).expect("one of two is there").key.clone();
        let row = Row { time, fields: Value::obj(fields), line, place: None, clock: self.desk.clock };
        self.desk.emitted.push((key, row));
    }

    fn take_interval(&mut self, mut row: Kept) {
        for partner in self.partners(&row, |p| self.meet(p, &row)) {
            row.matched = true;
            self.kept.iter_mut().filter(|p| p.arrival == partner.arrival).for_each(|p| p.matched = true);
            self.emit(pair(&row, &partner), row.time.max(partner.time)); // "Its time is the later of the two."
        }
        self.kept.push(row);
    }

    /// Drops what is of no more use; "A row of an outer side that met nothing comes out".
    fn drop_rows(&mut self) {
        let kept = std::mem::take(&mut self.kept);
        let (mut gone, kept) = kept.into_iter().partition(|row| self.desk.watermark > self.useful_until(row));
        self.kept = kept;
        gone.sort_by_key(|row| (row.time, row.side, row.arrival));
        let matching = self.desk.spec.text("matching").to_owned();
        for row in gone.iter().filter(|row| !row.matched && [SIDES[row.side], "full"].contains(&matching.as_str())) {
            let alone = if row.side == 0 { [Some(row), None] } else { [None, Some(row)] };
            self.emit(alone, row.time);
        }
    }

    /// "A row that comes after the end of a window that is not gone meets the window's rows at once, window by window in
    /// order of end."
    fn take_window(&mut self, row: Kept) {
        for (start, end) in self.windows(row.time) {
            if end <= self.desk.watermark {
                for partner in self.partners(&row, |p| same_key(p, &row) && start <= p.time && p.time < end) {
                    self.emit(pair(&row, &partner), end - 1);
                }
            }
        }
        self.kept.push(row);
    }

    /// "all its pairs come out, in order of the left row's time and arrival, then the right row's"
    fn fire_windows(&mut self, from: Time) {
        let mut due: Vec<(Time, Time)> = self.kept.iter().flat_map(|row| self.desk.spec.grid(row.time)).collect();
        due.retain(|(_, end)| from < *end && *end <= self.desk.watermark);
        due.sort_by_key(|(start, end)| (*end, *start));
        due.dedup();
        for (start, end) in due {
            let within = |row: &Kept| start <= row.time && row.time < end;
            let mut lefts: Vec<Kept> = self.kept.iter().filter(|row| row.side == 0 && within(row)).cloned().collect();
            lefts.sort_by_key(|row| (row.time, row.arrival));
            for left in lefts {
                for right in self.partners(&left, |p| same_key(p, &left) && within(p)) {
                    self.emit(pair(&left, &right), end - 1);
                }
            }
        }
        let kept = std::mem::take(&mut self.kept);
        self.kept = kept.into_iter().filter(|row| !self.windows(row.time).is_empty()).collect();
    }
}

/// "A null in any key field matches nothing."
fn same_key(a: &Kept, b: &Kept) -> bool {
    a.key == b.key && !a.key.iter().any(Value::is_null)
}

/// Two rows, the left one first.
fn pair<'a>(a: &'a Kept, b: &'a Kept) -> [Option<&'a Kept>; 2] {
    if a.side == 0 { [Some(a), Some(b)] } else { [Some(b), Some(a)] }
}

impl Operator for Join {
    fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    fn take(&mut self, input: usize, row: Row) -> Result<(), Refusal> {
        let key = self.desk.spec.key(&format!("{}.key_by", SIDES[input]), &row.fields);
        let row = Kept { side: input, key, time: row.time, fields: row.fields, arrival: self.arrived, matched: false };
        self.arrived += 1;
        let all = if self.interval() { 1 } else { self.desk.spec.grid(row.time).len() };
        let late = row.time + self.lateness() < self.desk.watermark;
        let open = if self.interval() { usize::from(!late) } else { self.windows(row.time).len() };
        if open == 0 {
            return Err(self.desk.refusal("too-late"));
        }
        self.desk.count("accepted");
        if open < all {
            self.desk.count("partly_late");
        }
        if self.interval() {
            self.take_interval(row);
            self.drop_rows();
        } else {
            self.take_window(row);
        }
        Ok(())
    }

    fn advance(&mut self, watermark: Time, clock: Option<Time>) {
        let from = self.desk.watermark;
        (self.desk.watermark, self.desk.clock) = (from.max(watermark), clock);
        if self.interval() { self.drop_rows() } else { self.fire_windows(from) }
    }

    /// Of an interval join it stays behind "by the longest time that a row without a partner waits".
    fn claim(&self) -> Time {
        let (lower, upper) = (self.desk.spec.duration("lower"), self.desk.spec.duration("upper"));
        match self.desk.watermark {
            w @ (MINUS_INFINITY | PLUS_INFINITY) => w,
            w if self.interval() => w - upper.max(-lower).max(0) - self.lateness(),
            w => w,
        }
    }

    fn unshown(&self) -> usize {
        0
    }
}
