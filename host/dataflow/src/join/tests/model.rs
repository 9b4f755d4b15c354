//! A join as its definition says it: every pair of rows is looked at, nothing is ever dropped.

use std::collections::BTreeMap;

use tidegate_pipeline::{Join, JoinKind, JoinSide, Matching, WindowKind};
use tidegate_types::Value;

use super::bench::{Event, Row};

/// A row that comes out, with what it is sorted by among those of its key and event.
type Made = ((i64, i64, usize, i64, usize), Shown);

/// Left mark, right mark, time, watermark.
pub(super) type Shown = (Value, Value, i64, i64);

/// For each key, what comes out in order, with its event.
pub(super) type ByKey = BTreeMap<Vec<u8>, Vec<(usize, Shown)>>;

/// An accepted row.
struct Accepted<'a> {
    row: &'a Row,
    event: usize,
    number: usize,
    /// The watermark at its arrival.
    watermark: i64,
}

pub(super) struct Expected {
    pub(super) by_key: ByKey,
    pub(super) accepted: u64,
    pub(super) too_late: u64,
    pub(super) partly_late: u64,
}

/// What a join makes of events.
pub(super) fn expected(join: &Join, events: &[Event]) -> Expected {
    let mut watermarks = Vec::new();
    let mut now = i64::MIN;
    let mut accepted = Vec::new();
    let mut all = Expected { by_key: ByKey::new(), accepted: 0, too_late: 0, partly_late: 0 };
    for (event, what) in events.iter().enumerate() {
        let (mut rows, moved): (Vec<&Row>, Option<i64>) = match what {
            Event::Row(row) => (vec![row], None),
            Event::Together(rows, moved) => (rows.iter().collect(), *moved),
            Event::Watermark(moved) => (vec![], Some(*moved)),
        };
        rows.sort_by_key(|row| row.side);
        for row in rows {
            let live = spans(join, row).iter().filter(|span| now < span.1).count();
            let late = if live == 0 { &mut all.too_late } else { &mut all.accepted };
            *late += 1;
            if live > 0 {
                all.partly_late += u64::from(live < spans(join, row).len());
                accepted.push(Accepted { row, event, number: accepted.len(), watermark: now });
            }
        }
        now = now.max(moved.unwrap_or(i64::MIN));
        watermarks.push(now);
    }
    let mut made: BTreeMap<(Vec<u8>, usize), Vec<Made>> = BTreeMap::new();
    let mut add = |key: &Value, event: usize, one: Made| {
        let mut encoded = Vec::new();
        tidegate_types::key::encode_value(&mut encoded, key.as_ref());
        made.entry((encoded, event)).or_default().push(one);
    };
    match &join.kind {
        JoinKind::Interval { .. } => interval(join, &accepted, &watermarks, &mut add),
        JoinKind::Window(_) => windows(join, &accepted, &watermarks, &mut add),
    }
    for ((key, event), mut rows) in made {
        rows.sort_by_key(|row| row.0);
        all.by_key.entry(key).or_default().extend(rows.into_iter().map(|(_, row)| (event, row)));
    }
    all
}

/// The spans that decide whether a row is late: the end of its windows and when they are gone; a row of an interval join is
/// late after its own time.
fn spans(join: &Join, row: &Row) -> Vec<(i64, i64)> {
    let lateness = join.allowed_lateness.0;
    match &join.kind {
        JoinKind::Interval { .. } => vec![(0, row.time + lateness + 1)],
        JoinKind::Window(kind) => {
            let (size, slide, offset) = match kind {
                WindowKind::Tumbling { size, offset } => (size.0, size.0, offset.0),
                WindowKind::Sliding { size, slide, offset } => (size.0, slide.0, offset.0),
                other => panic!("{other:?}"),
            };
            let starts = (row.time - size + 1..=row.time).filter(|start| (start - offset).rem_euclid(slide) == 0);
            starts.map(|start| (start + size, start + size + lateness)).collect()
        }
    }
}

fn mates<'a>(accepted: &'a [Accepted<'a>]) -> impl Iterator<Item = (&'a Accepted<'a>, &'a Accepted<'a>)> {
    let of = |side| accepted.iter().filter(move |one| one.row.side == side);
    of(JoinSide::Left)
        .flat_map(move |one| of(JoinSide::Right).map(move |two| (one, two)))
        .filter(|(one, two)| one.row.key == two.row.key && !one.row.key.is_null())
}

fn interval(join: &Join, accepted: &[Accepted<'_>], watermarks: &[i64], add: &mut impl FnMut(&Value, usize, Made)) {
    let JoinKind::Interval { lower, upper } = join.kind else { panic!("no interval join") };
    let mut matched = vec![false; accepted.len()];
    for (one, two) in mates(accepted) {
        if !(one.row.time + lower..=one.row.time + upper).contains(&two.row.time) {
            continue;
        }
        (matched[one.number], matched[two.number]) = (true, true);
        let (first, last) = if one.number < two.number { (one, two) } else { (two, one) };
        // Of the row that arrives: its number, then its partners by time and arrival.
        let order = (i64::MIN, 0, last.number, first.row.time, first.number);
        let time = one.row.time.max(two.row.time);
        add(&one.row.key, last.event, (order, (one.row.mark.clone(), two.row.mark.clone(), time, last.watermark)));
    }
    for one in accepted.iter().filter(|one| !matched[one.number]) {
        let (outer, reach) = match one.row.side {
            JoinSide::Left => (matches!(join.matching, Matching::Left | Matching::Full), upper),
            JoinSide::Right => (matches!(join.matching, Matching::Right | Matching::Full), -lower),
        };
        let bound = one.row.time + reach + join.allowed_lateness.0;
        let (event, watermark, advance) = if one.watermark > bound {
            (one.event, one.watermark, false)
        } else {
            let Some(event) = (one.event..watermarks.len()).find(|event| watermarks[*event] > bound) else { continue };
            (event, watermarks[event], true)
        };
        if !outer {
            continue;
        }
        let side = i64::from(one.row.side == JoinSide::Right);
        // By its own arrival as any pair; by an advance after all rows, by time, side and arrival.
        let order = if advance { (one.row.time, side, one.number, 0, 0) } else { (i64::MIN, 0, one.number, 0, 0) };
        let mark = one.row.mark.clone();
        let (left, right) = if side == 0 { (mark, Value::Null) } else { (Value::Null, mark) };
        add(&one.row.key, event, (order, (left, right, one.row.time, watermark)));
    }
}

fn windows(join: &Join, accepted: &[Accepted<'_>], watermarks: &[i64], add: &mut impl FnMut(&Value, usize, Made)) {
    for (one, two) in mates(accepted) {
        let (first, last) = if one.number < two.number { (one, two) } else { (two, one) };
        let others = spans(join, two.row);
        for (end, gone) in spans(join, one.row).into_iter().filter(|span| others.contains(span)) {
            if first.watermark >= gone || last.watermark >= gone {
                continue;
            }
            let shown = |watermark| (one.row.mark.clone(), two.row.mark.clone(), end - 1, watermark);
            if last.watermark >= end {
                // At once; of the row that arrives by the windows' ends, then by the partners' times and arrivals.
                let place = i64::try_from(last.number).expect("few") + i64::MIN;
                let number = usize::try_from(end - last.row.time).expect("a window ends after its rows");
                add(
                    &one.row.key,
                    last.event,
                    ((place, 0, number, first.row.time, first.number), shown(last.watermark)),
                );
            } else if let Some(event) = (last.event..watermarks.len()).find(|event| watermarks[*event] >= end) {
                let order = (end, one.row.time, one.number, two.row.time, two.number);
                add(&one.row.key, event, (order, shown(watermarks[event])));
            }
        }
    }
}
