//! Window hooks: a tenant's own windows, firing decisions and emission.

use serde::de::DeserializeOwned;

use crate::columns::{
    Assignments, Batch, Column, Decision, Fault, Field, Panes, Reads, Rows, Timing, Value, WindowerPlan,
};
use crate::export::RowWise;
use crate::mapper::{Sources, reads, rows_of};
use crate::row::{ColumnSink, ColumnSource, Emit, ReadRow, Row, WriteRow};

/// A window `[start, end)`, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    /// When it begins.
    pub start: i64,
    /// When it is over; a record at this very time is outside.
    pub end: i64,
}

/// A window hook, row by row.
///
/// Only [`assign`](Self::assign) is needed. A hook that sets `DECIDES` says itself when its windows fire; one that sets
/// `EMITS` makes rows of its own of each pane.
pub trait Windower: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;
    /// What is needed of a row to assign it: mostly a struct with nothing but a `#[row(time)]` field.
    type In<'a>: ReadRow<'a>;
    /// The windows of a row: `[Window; 1]`, `Option<Window>`, `Vec<Window>`, …
    type Windows: IntoIterator<Item = Window>;
    /// What is needed of a pane's value to emit it, by name; `()` without `EMITS`.
    type Value<'a>: ReadRow<'a>;
    /// What comes of a pane: `Row`, `Option<Row>`, `Vec<Row>` or `[Row; N]`; `()` without `EMITS`.
    type Out: Emit;
    /// Whether [`decide`](Self::decide) decides, instead of the pipeline's trigger.
    const DECIDES: bool = false;
    /// Whether [`emit`](Self::emit) makes what goes out, instead of the pane's value as it is.
    const EMITS: bool = false;

    /// Sets the hook up, once per instance. `value`: the fields of a pane's value, as the aggregates make it. An error refuses the job.
    fn open(config: Self::Config, key: &[Field], input: &[Field], value: &[Field]) -> Result<Self, Fault>;

    /// The windows that a row is in, in any order: none, one or several.
    fn assign(&self, row: Self::In<'_>) -> Self::Windows;

    /// Whether a window fires now.
    fn decide(&self, _progress: &Progress<'_>) -> Decision {
        Decision::Wait
    }

    /// What goes out for a pane.
    ///
    /// # Panics
    /// As provided: a hook that sets `EMITS` writes its own.
    fn emit(&self, _pane: &Pane<'_>, _value: Self::Value<'_>) -> Self::Out {
        panic!("a window hook with EMITS needs its own `emit`")
    }
}

/// A window that rows were added to, or that the watermark has reached.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    keys: &'a [Column],
    row: usize,
    /// The window.
    pub window: Window,
    /// How many rows were added; 0 when the watermark has passed the window's end.
    pub count: u32,
    /// The operator's watermark; the least or greatest `i64` where it is infinite.
    pub watermark: i64,
}

impl<'a> Progress<'a> {
    /// The key's field number `field`, in the order of `key_by`.
    ///
    /// # Panics
    /// Where there is no such field.
    pub fn key(&self, field: usize) -> Value<'a> {
        self.keys[field].value(self.row)
    }
}

/// A pane that goes out.
#[derive(Clone, Copy, Debug)]
pub struct Pane<'a> {
    keys: &'a [Column],
    row: usize,
    /// The window.
    pub window: Window,
    /// Whether the watermark was before, at or after the window's end.
    pub timing: Timing,
    /// How many panes this key and window had before.
    pub index: u32,
    /// The operator's watermark; the least or greatest `i64` where it is infinite.
    pub watermark: i64,
}

impl<'a> Pane<'a> {
    /// The key's field number `field`, in the order of `key_by`.
    ///
    /// # Panics
    /// Where there is no such field.
    pub fn key(&self, field: usize) -> Value<'a> {
        self.keys[field].value(self.row)
    }
}

/// A window hook over whole columns.
pub trait ColumnWindower: Sized + 'static {
    /// The `config` of the hook in the pipeline file; `()` for none.
    type Config: DeserializeOwned;

    /// Sets the hook up, once per instance, and says what it reads and does. An error refuses the job.
    fn open(
        config: Self::Config,
        key: &[Field],
        input: &[Field],
        value: &[Field],
    ) -> Result<(Self, WindowerPlan), Fault>;

    /// The windows of each row, ascending by end, then start.
    fn assign(&self, batch: Batch) -> Result<Assignments, Fault>;

    /// One decision per window.
    fn decide(
        &self,
        keys: Vec<Column>,
        starts: &[i64],
        ends: &[i64],
        counts: &[u32],
        watermark: i64,
    ) -> Result<Vec<Decision>, Fault>;

    /// What goes out for each pane; `sources` are rows of `panes`.
    fn emit(&self, panes: Panes, keys: Vec<Column>, values: Vec<Column>) -> Result<Rows, Fault>;
}

type OutRow<W> = <<W as Windower>::Out as Emit>::Row;

/// A row-wise window hook with the fields of its panes' values, by which `emit` finds its columns.
#[derive(Debug)]
pub struct RowWindower<W> {
    hook: RowWise<W>,
    value: Vec<Field>,
}

impl<W: Windower> ColumnWindower for RowWindower<W> {
    type Config = W::Config;

    fn open(config: W::Config, key: &[Field], input: &[Field], value: &[Field]) -> Result<(Self, WindowerPlan), Fault> {
        let hook = W::open(config, key, input, value)?;
        if W::EMITS {
            needs_fields(&W::Value::<'static>::fields(), value)?;
        }
        let output = if W::EMITS { OutRow::<W>::fields() } else { Vec::new() };
        let reads: Reads = reads::<W::In<'static>>();
        let plan = WindowerPlan { reads: Some(reads), decides: W::DECIDES, emits: W::EMITS, output };
        Ok((Self { hook: RowWise(hook), value: value.to_vec() }, plan))
    }

    fn assign(&self, batch: Batch) -> Result<Assignments, Fault> {
        assign_rows(&self.hook.0, &batch)
    }

    fn decide(
        &self,
        keys: Vec<Column>,
        starts: &[i64],
        ends: &[i64],
        counts: &[u32],
        watermark: i64,
    ) -> Result<Vec<Decision>, Fault> {
        let windows = starts.iter().zip(ends).map(|(&start, &end)| Window { start, end });
        let decide =
            |(row, (window, &count))| self.hook.0.decide(&Progress { keys: &keys, row, window, count, watermark });
        Ok(windows.zip(counts).enumerate().map(decide).collect())
    }

    fn emit(&self, panes: Panes, keys: Vec<Column>, values: Vec<Column>) -> Result<Rows, Fault> {
        emit_rows(&self.hook.0, &self.value, &panes, &keys, &values)
    }
}

fn needs_fields(wanted: &[Field], value: &[Field]) -> Result<(), Fault> {
    for field in wanted {
        let found = value.iter().find(|candidate| candidate.name == field.name);
        let fits = found.is_some_and(|found| found.kind == field.kind && (field.nullable || !found.nullable));
        if !fits {
            let nullable = if field.nullable { "nullable " } else { "" };
            let (name, kind) = (&field.name, field.kind);
            return Err(Fault::new(format!(
                "emit needs a {nullable}{kind:?} `{name}` in the panes' value; got {found:?}"
            )));
        }
    }
    Ok(())
}

fn assign_rows<'a, W: Windower>(hook: &W, batch: &'a Batch) -> Result<Assignments, Fault> {
    let rows = rows_of(batch);
    let reader = W::In::<'a>::reader(&mut ColumnSource::in_order(&batch.times, &batch.columns))?;
    let mut made = Assignments {
        offsets: Vec::with_capacity(rows + 1),
        starts: Vec::with_capacity(rows),
        ends: Vec::with_capacity(rows),
    };
    made.offsets.push(0);
    let mut windows: Vec<Window> = Vec::new();
    for row in 0..rows {
        windows.clear();
        windows.extend(hook.assign(W::In::<'a>::read(&reader, row)));
        if windows.len() > 1 {
            windows.sort_unstable_by_key(|window| (window.end, window.start));
            windows.dedup();
        }
        made.starts.extend(windows.iter().map(|window| window.start));
        made.ends.extend(windows.iter().map(|window| window.end));
        made.offsets.push(u32::try_from(made.starts.len()).expect("a batch has fewer than 2^32 windows"));
    }
    Ok(made)
}

fn emit_rows<'a, W: Windower>(
    hook: &W,
    value: &'a [Field],
    panes: &Panes,
    keys: &[Column],
    values: &'a [Column],
) -> Result<Rows, Fault> {
    let reader = W::Value::<'a>::reader(&mut ColumnSource::by_name(values, value))?;
    let mut writer = OutRow::<W>::writer(panes.starts.len());
    let mut sources = Sources::default();
    for row in 0..panes.starts.len() {
        let pane = Pane {
            keys,
            row,
            window: Window { start: panes.starts[row], end: panes.ends[row] },
            timing: panes.timings[row],
            index: panes.indexes[row],
            watermark: panes.watermark,
        };
        let made = hook.emit(&pane, W::Value::<'a>::read(&reader, row)).emit(|made| made.write(&mut writer));
        sources.add(row, made);
    }
    let mut columns = ColumnSink::default();
    OutRow::<W>::finish(writer, &mut columns);
    Ok(Rows { columns: columns.columns, times: columns.times, sources: sources.listed })
}
