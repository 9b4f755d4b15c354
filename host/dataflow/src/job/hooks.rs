//! How a job's hooks are opened while it is put together.

use std::collections::VecDeque;
use std::convert::Infallible;

use tidegate_pipeline::NamedHook;
use tidegate_types::Field;
use tidegate_types::hooks::{AggregateHook, MapHook, ProcessHook, WindowHook};

/// Opens hooks. Each method is called once for every instance that the job needs.
pub trait OpenHooks {
    /// Why a hook does not open.
    type Error;

    /// Opens a map hook, or the map hook of a join.
    ///
    /// # Errors
    /// If it does not open.
    fn map(&mut self, hook: &NamedHook<'_>, input: &[Field]) -> Result<Box<dyn MapHook>, Self::Error>;

    /// Opens an aggregate hook.
    ///
    /// # Errors
    /// If it does not open.
    fn aggregate(
        &mut self,
        hook: &NamedHook<'_>,
        key: &[Field],
        input: &[Field],
    ) -> Result<Box<dyn AggregateHook>, Self::Error>;

    /// Opens a window hook. `value`: the fields of a pane's value.
    ///
    /// # Errors
    /// If it does not open.
    fn window(
        &mut self,
        hook: &NamedHook<'_>,
        key: &[Field],
        input: &[Field],
        value: &[Field],
    ) -> Result<Box<dyn WindowHook>, Self::Error>;

    /// Opens a process hook.
    ///
    /// # Errors
    /// If it does not open.
    fn process(
        &mut self,
        hook: &NamedHook<'_>,
        key: &[Field],
        input: &[Field],
    ) -> Result<Box<dyn ProcessHook>, Self::Error>;
}

/// Hooks that were opened before, each kind in the order in which the job asks for them: operator by operator, and for each
/// subtask in turn.
///
/// # Panics
/// When it is asked for more than it has.
#[derive(Default)]
pub struct JobHooks {
    /// Map hooks and those of joins.
    pub maps: VecDeque<Box<dyn MapHook>>,
    /// Aggregate hooks.
    pub aggregates: VecDeque<Box<dyn AggregateHook>>,
    /// Window hooks.
    pub windows: VecDeque<Box<dyn WindowHook>>,
    /// Process hooks.
    pub processes: VecDeque<Box<dyn ProcessHook>>,
}

impl OpenHooks for JobHooks {
    type Error = Infallible;

    fn map(&mut self, _: &NamedHook<'_>, _: &[Field]) -> Result<Box<dyn MapHook>, Infallible> {
        Ok(self.maps.pop_front().expect("a map hook was opened for each that the pipeline names"))
    }

    fn aggregate(&mut self, _: &NamedHook<'_>, _: &[Field], _: &[Field]) -> Result<Box<dyn AggregateHook>, Infallible> {
        Ok(self.aggregates.pop_front().expect("an aggregate hook was opened for each that the pipeline names"))
    }

    fn window(
        &mut self,
        _: &NamedHook<'_>,
        _: &[Field],
        _: &[Field],
        _: &[Field],
    ) -> Result<Box<dyn WindowHook>, Infallible> {
        Ok(self.windows.pop_front().expect("a window hook was opened for each that the pipeline names"))
    }

    fn process(&mut self, _: &NamedHook<'_>, _: &[Field], _: &[Field]) -> Result<Box<dyn ProcessHook>, Infallible> {
        Ok(self.processes.pop_front().expect("a process hook was opened for each that the pipeline names"))
    }
}
