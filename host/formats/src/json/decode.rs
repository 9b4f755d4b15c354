//! JSON records to columns.
//!
//! One pass over each record finds the values that somebody asked for and checks the rest. Then the record is judged:
//! no JSON object (`malformed`), a declared field of another kind (`type-mismatch`), no readable event time (`bad-time`),
//! in this order. Only a record that passes adds to the columns. Its time, its claim and its arrival are read as far as
//! they can be, whatever the verdict is (docs/semantics.md, 2 and 7).

use tidegate_types::batch::index;
use tidegate_types::{ColumnBuilder, EventTime, Field, ValueRef};

use super::fill::Values;
use super::plan::{Plan, Slot};
use super::scan::{Malformed, Scanner, Token};
use super::shape::Shape;
use crate::decoded::{Claim, Decoded, MAX_RECORD_BYTES, Rejected, codes};
use crate::time::parse_time;

/// What is wanted of each record.
#[derive(Debug, Clone, Default)]
pub struct DecodeSpec {
    /// The columns, in order. A name may stand several times, with different types.
    pub fields: Vec<Field>,
    /// Fields that are checked like a column of their type, but not wanted.
    pub checks: Vec<Field>,
    /// The place in `fields` of a bytes field that is to hold the record itself instead of a value of it.
    pub raw: Option<usize>,
    /// The field of the event time. None: records have no time of their own.
    pub time: Option<String>,
    /// The field of a punctuated watermark's claims.
    pub punctuation: Option<String>,
    /// The field of the arrival, ms of processing time.
    pub arrival: Option<String>,
}

/// Decodes JSON records.
#[derive(Debug)]
pub struct JsonDecoder {
    plan: Plan,
    shape: Shape,
    /// The values of the record at hand.
    slots: Vec<Token>,
    builders: Vec<ColumnBuilder>,
    scratch: String,
}

impl JsonDecoder {
    /// A decoder for this specification.
    #[must_use]
    pub fn new(spec: DecodeSpec) -> Self {
        let (plan, names) = Plan::new(spec);
        let slots = vec![Token::Absent; names.len()];
        Self { plan, shape: Shape::new(names), slots, builders: Vec::new(), scratch: String::new() }
    }

    /// See [`crate::Decoder::decode`].
    ///
    /// # Panics
    /// If a span is not within `data`.
    pub fn decode(&mut self, data: &[u8], spans: &[(u32, u32)]) -> Decoded {
        let mut decoded = self.start(spans.len());
        // Nearly always the whole batch is UTF-8; checking it at once is cheaper than record by record.
        let whole = std::str::from_utf8(data).ok();
        for (record, (start, end)) in (0..).zip(spans) {
            let span = index(*start)..index(*end);
            let verdict = if span.len() > MAX_RECORD_BYTES {
                self.unreadable(&mut decoded);
                Err(Rejected::too_large(record))
            } else {
                let text = match whole {
                    Some(whole) => whole.get(span),
                    None => std::str::from_utf8(&data[span]).ok(),
                };
                self.record(text, &mut decoded).map_err(|(code, detail)| Rejected { record, code, detail })
            };
            match verdict {
                Ok(()) => decoded.rows.push(record),
                Err(rejected) => decoded.rejected.push(rejected),
            }
        }
        decoded.columns = self.builders.iter_mut().map(ColumnBuilder::finish).collect();
        decoded
    }

    /// Fresh builders, and room for so many records.
    fn start(&mut self, records: usize) -> Decoded {
        self.builders.clear();
        let builder = |kind| Option::map_or(kind, ColumnBuilder::new(), ColumnBuilder::of_kind);
        self.builders.extend(self.plan.columns.iter().map(|column| builder(column.kind())));
        let timed = if self.plan.time.is_some() { records } else { 0 };
        Decoded {
            rows: Vec::with_capacity(records),
            row_times: Vec::with_capacity(timed),
            times: Vec::with_capacity(timed),
            heard: Vec::with_capacity(records),
            ..Decoded::default()
        }
    }

    /// Decodes one record (none: it is not UTF-8) and adds it to the columns, or says what is wrong with it.
    #[inline]
    fn record(&mut self, text: Option<&str>, decoded: &mut Decoded) -> Result<(), (&'static str, String)> {
        let scanned = match text {
            Some(text) => read_object(&mut self.shape, text, &mut self.slots).map(|()| text),
            None => Err(Malformed { at: 0, what: "bytes that are no UTF-8" }),
        };
        let text = match scanned {
            Ok(text) => text,
            Err(malformed) => {
                self.unreadable(decoded);
                return Err((codes::MALFORMED, format!("no JSON object: {malformed}")));
            }
        };
        let values = Values { text, slots: &self.slots };
        let time = self.plan.time.as_ref().map(|slot| parse_time(values.get(slot.place, &mut self.scratch)));
        note_signals(&self.plan, values, time, &mut self.scratch, decoded);
        for fields in [&self.plan.columns, &self.plan.checks] {
            for field in fields {
                values.check(field).map_err(|detail| (codes::TYPE_MISMATCH, detail))?;
            }
        }
        match (&self.plan.time, time.flatten()) {
            (Some(slot), None) => return Err((codes::BAD_TIME, bad_time(slot, values))),
            (_, Some(time)) => decoded.row_times.push(time),
            (None, None) => {}
        }
        for (field, builder) in self.plan.columns.iter().zip(&mut self.builders) {
            values.push(field, builder, &mut self.scratch);
        }
        Ok(())
    }

    /// Notes that a record said nothing.
    #[cold]
    fn unreadable(&self, decoded: &mut Decoded) {
        decoded.heard.push(false);
        decoded.times.extend(self.plan.time.as_ref().map(|_| None));
        decoded.claims.extend(self.plan.punctuation.as_ref().map(|_| Claim::Nothing));
        decoded.arrivals.extend(self.plan.arrival.as_ref().map(|_| None));
    }
}

/// Reads a text that must be one JSON object: the values of the names that the shape looks for.
#[inline]
pub(super) fn read_object(shape: &mut Shape, text: &str, slots: &mut [Token]) -> Result<(), Malformed> {
    slots.fill(Token::Absent);
    let mut scanner = Scanner::new(text);
    scanner.space();
    if !scanner.eat(b'{') {
        return scanner.wrong("no opening brace");
    }
    scanner.space();
    let mut more = !scanner.eat(b'}');
    let mut guess = 0;
    while more {
        let slot = shape.key(&mut scanner, text, &mut guess)?;
        let value = scanner.value(1)?;
        if let Some(slot) = slot {
            // Of equal keys the last.
            slots[slot] = value;
        }
        more = scanner.another(b'}')?;
    }
    scanner.finish()
}

/// Notes what a JSON object says to its source. `time`: none if none is asked for, then none if it is unreadable.
#[inline]
fn note_signals(
    plan: &Plan,
    values: Values<'_>,
    time: Option<Option<EventTime>>,
    scratch: &mut String,
    decoded: &mut Decoded,
) {
    let heard = time != Some(None);
    decoded.heard.push(heard);
    decoded.times.extend(time);
    if let Some(slot) = &plan.punctuation {
        let claim = if heard { claim(values.get(slot.place, scratch)) } else { Claim::Nothing };
        decoded.claims.push(claim);
    }
    if let Some(slot) = &plan.arrival {
        decoded.arrivals.push(parse_time(values.get(slot.place, scratch)));
    }
}

fn claim(value: ValueRef<'_>) -> Claim {
    match value {
        ValueRef::Bool(true) => Claim::OwnTime,
        value => parse_time(value).map_or(Claim::Nothing, Claim::At),
    }
}

#[cold]
fn bad_time(slot: &Slot, values: Values<'_>) -> String {
    let found = match values.slots[slot.place] {
        Token::Absent => "absent",
        Token::Null => "null",
        Token::Int(_) => "outside the years 0001 to 9999",
        Token::Text { .. } => "no RFC 3339 time with a zone in the years 0001 to 9999",
        _ => "neither an integer nor text",
    };
    let name = &slot.name;
    format!(
        "field `{name}` is {found}; a time is integer milliseconds or RFC 3339 with a zone, as 2026-10-22T09:41:00Z"
    )
}

#[cfg(test)]
mod tests;
