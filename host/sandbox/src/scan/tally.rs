//! Counts what a component is made of, over all its nested parts, against the limits.

use super::Problem;
use crate::config::ScanLimits;

/// What was counted so far.
pub(super) struct Tally<'a> {
    limits: &'a ScanLimits,
    depth: u32,
    modules: u32,
    components: u32,
    core_instances: u32,
    instances: u32,
    functions: u32,
    entries: u32,
    custom_bytes: usize,
    /// Of the module that is being looked at.
    memories: u32,
}

impl<'a> Tally<'a> {
    pub(super) fn new(limits: &'a ScanLimits) -> Self {
        Self {
            limits,
            depth: 0,
            modules: 0,
            components: 0,
            core_instances: 0,
            instances: 0,
            functions: 0,
            entries: 0,
            custom_bytes: 0,
            memories: 0,
        }
    }

    /// A component or a module begins.
    pub(super) fn enter(&mut self, component: bool) -> Result<(), Problem> {
        // A module inside a component is not one deeper: modules hold nothing.
        self.depth += 1;
        let levels = if component { self.depth } else { self.depth - 1 };
        within("levels of nesting", levels.into(), self.limits.depth.into())
    }

    /// It ends.
    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn module(&mut self) -> Result<(), Problem> {
        self.memories = 0;
        add("core modules", &mut self.modules, 1, self.limits.modules)
    }

    /// Memories that the module imports or has: modules hold nothing, so they are looked at one after another.
    pub(super) fn memories(&mut self, count: u32) -> Result<(), Problem> {
        add("memories in one core module", &mut self.memories, count, 1)
    }

    pub(super) fn component(&mut self) -> Result<(), Problem> {
        add("nested components", &mut self.components, 1, self.limits.components)
    }

    pub(super) fn core_instances(&mut self, count: u32) -> Result<(), Problem> {
        add("core instances", &mut self.core_instances, count, self.limits.core_instances)
    }

    pub(super) fn instances(&mut self, count: u32) -> Result<(), Problem> {
        add("component instances", &mut self.instances, count, self.limits.instances)
    }

    pub(super) fn functions(&mut self, count: u32) -> Result<(), Problem> {
        add("functions", &mut self.functions, count, self.limits.functions)
    }

    pub(super) fn entries(&mut self, count: u32) -> Result<(), Problem> {
        add("entries of types, imports, exports and aliases", &mut self.entries, count, self.limits.entries)
    }

    pub(super) fn custom(&mut self, bytes: usize) -> Result<(), Problem> {
        self.custom_bytes = self.custom_bytes.saturating_add(bytes);
        within("bytes of custom sections", size(self.custom_bytes), size(self.limits.custom_section_bytes))
    }

    pub(super) fn body(
        &mut self,
        bytes: usize,
        locals: impl Iterator<Item = wasmparser::Result<(u32, wasmparser::ValType)>>,
    ) -> Result<(), Problem> {
        within("bytes in one function", size(bytes), size(self.limits.body_bytes))?;
        let mut sum = 0;
        for group in locals {
            let (count, _) = group?;
            add("locals in one function", &mut sum, count, self.limits.locals)?;
        }
        Ok(())
    }
}

fn add(what: &'static str, sum: &mut u32, count: u32, limit: u32) -> Result<(), Problem> {
    *sum = sum.saturating_add(count);
    within(what, u64::from(*sum), u64::from(limit))
}

fn within(what: &'static str, found: u64, limit: u64) -> Result<(), Problem> {
    if found > limit { Err(Problem::TooMany { what, found, limit, at: None }) } else { Ok(()) }
}

fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
