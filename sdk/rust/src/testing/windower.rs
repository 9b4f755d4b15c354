//! The harness for window hooks.

use std::marker::PhantomData;

use super::check;
use crate::columns::{Batch, Column, Decision, Fault, Field, Panes, Rows, Timing, WindowerPlan};
use crate::config;
use crate::row::{ColumnSource, Emit, ReadRow, Row, WriteRow, to_columns};
use crate::windower::{ColumnWindower, RowWindower, Window, Windower};

/// A window hook under test.
pub struct WindowerHarness<W> {
    config: String,
    key: Vec<Field>,
    input: Vec<Field>,
    value: Vec<Field>,
    plan: WindowerPlan,
    hook: PhantomData<W>,
}

/// A pane to emit.
#[derive(Clone, Debug)]
pub struct PaneInput {
    /// The window.
    pub window: Window,
    /// Whether the watermark was before, at or after the window's end.
    pub timing: Timing,
    /// How many panes this key and window had before.
    pub index: u32,
}

impl<W: Windower> WindowerHarness<W> {
    /// Opens the hook with its config as JSON (`null` for none), as if everything had exactly the fields that it reads.
    pub fn open(config: &str) -> Result<Self, Fault> {
        Self::open_with(config, Vec::new(), W::In::<'static>::fields(), W::Value::<'static>::fields())
    }

    /// Opens the hook with its config as JSON, the key fields, the fields that reach it, and those of a pane's value.
    pub fn open_with(config: &str, key: Vec<Field>, input: Vec<Field>, value: Vec<Field>) -> Result<Self, Fault> {
        let (_, plan) = instance::<W>(config, &key, &input, &value)?;
        Ok(Self { config: config.to_owned(), key, input, value, plan, hook: PhantomData })
    }

    /// What the hook reads and does.
    pub fn plan(&self) -> &WindowerPlan {
        &self.plan
    }

    /// The windows of each row, in one batch, and again row by row in fresh instances.
    ///
    /// # Errors
    /// A fault of the hook, or a window that does not start before it ends.
    ///
    /// # Panics
    /// Where the hook panics, or where the cut changes the answer.
    pub fn assign<'a>(&self, rows: &[W::In<'a>]) -> Result<Vec<Vec<Window>>, Fault>
    where
        W::In<'a>: WriteRow + Clone,
    {
        let whole = self.assign_batch(rows)?;
        for (row, windows) in rows.iter().zip(&whole) {
            let alone = self.assign_batch(std::slice::from_ref(row))?;
            assert_eq!(
                alone.as_slice(),
                std::slice::from_ref(windows),
                "not repeatable: a row alone is in other windows"
            );
        }
        Ok(whole)
    }

    fn assign_batch<'a>(&self, rows: &[W::In<'a>]) -> Result<Vec<Vec<Window>>, Fault>
    where
        W::In<'a>: WriteRow + Clone,
    {
        let sent = to_columns(rows.iter().cloned());
        let times =
            sent.times.unwrap_or_else(|| if sent.columns.is_empty() { vec![0; rows.len()] } else { Vec::new() });
        let made = self.instance()?.assign(Batch { times, columns: sent.columns })?;
        let all = made.starts.iter().zip(&made.ends).map(|(&start, &end)| Window { start, end }).collect::<Vec<_>>();
        if let Some(window) = all.iter().find(|window| window.start >= window.end) {
            return Err(Fault::new(format!("a window starts before it ends: {window:?}")));
        }
        Ok((0..rows.len()).map(|row| all[crate::columns::range(&made.offsets, row)].to_vec()).collect())
    }

    /// The decision on one window.
    pub fn decide(&self, key: Vec<Column>, window: Window, count: u32, watermark: i64) -> Result<Decision, Fault> {
        let decided = self.instance()?.decide(key, &[window.start], &[window.end], &[count], watermark)?;
        decided.first().copied().ok_or_else(|| Fault::new("no decision"))
    }

    /// What goes out for a pane with this value.
    pub fn emit<'a>(
        &self,
        key: Vec<Column>,
        pane: &PaneInput,
        value: W::Value<'a>,
        watermark: i64,
    ) -> Result<EmittedPanes<W>, Fault>
    where
        W::Value<'a>: WriteRow,
    {
        let panes = Panes {
            starts: vec![pane.window.start],
            ends: vec![pane.window.end],
            timings: vec![pane.timing],
            indexes: vec![pane.index],
            watermark,
        };
        let rows = self.instance()?.emit(panes, key, to_columns([value]).columns)?;
        let count = check::made(&self.plan.output, &rows, 1, &[])?.len();
        Ok(EmittedPanes { rows, count, hook: PhantomData })
    }

    fn instance(&self) -> Result<RowWindower<W>, Fault> {
        Ok(instance::<W>(&self.config, &self.key, &self.input, &self.value)?.0)
    }
}

fn instance<W: Windower>(
    config: &str,
    key: &[Field],
    input: &[Field],
    value: &[Field],
) -> Result<(RowWindower<W>, WindowerPlan), Fault> {
    <RowWindower<W> as ColumnWindower>::open(config::parse(config)?, key, input, value)
}

/// What a window hook emitted.
pub struct EmittedPanes<W> {
    rows: Rows,
    count: usize,
    hook: PhantomData<W>,
}

impl<W: Windower> EmittedPanes<W> {
    /// The rows, in order.
    ///
    /// # Panics
    /// Where the row reads other columns than it writes: a derived one does not.
    pub fn rows<'s>(&'s self) -> Vec<<W::Out as Emit>::Row>
    where
        <W::Out as Emit>::Row: ReadRow<'s>,
    {
        let times = self.rows.times.as_deref().unwrap_or_default();
        let reader = <W::Out as Emit>::Row::reader(&mut ColumnSource::in_order(times, &self.rows.columns))
            .expect("the result was checked against the row's own fields");
        (0..self.count).map(|row| <W::Out as Emit>::Row::read(&reader, row)).collect()
    }
}
