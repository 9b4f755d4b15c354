//! The graph as its readers ask for it: who reads what, where a part stands in the file, which hooks and logs it names.
//!
//! Everything here follows from the lists of the model alone. Paths are those of refusals: the short form has no names and
//! no places, so its operator's keys stand at the top of the file (`window.size`), and the long form's below
//! `operators[i]`.

use crate::model::{
    Aggregate, Form, Hook, JoinOutput, Operator, OperatorSpec, Pipeline, Sink, SinkSpec, Upstream, WindowKind, Windowed,
};
use crate::path::{item, key};

/// What a hook is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookRole {
    /// Makes rows of records or rows: behind a source, or as an operator of its own.
    Map,
    /// Makes rows of a join's pairs.
    Join,
    /// Assigns windows, and may decide when they fire and what they emit.
    Window,
    /// One entry of `aggregate`.
    Aggregate,
    /// A keyed function with state and timers.
    Process,
}

/// A hook and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedHook<'a> {
    /// The path of the object that holds `component`: `map`, `aggregate.sketch`, `operators[1].process`.
    pub path: String,
    /// What it is asked to do.
    pub role: HookRole,
    /// The source that it stands behind, by its place in [`Pipeline::sources`].
    pub source: Option<usize>,
    /// The operator that it belongs to, by its place in [`Pipeline::operators`].
    pub operator: Option<usize>,
    /// The hook.
    pub hook: &'a Hook,
}

impl Pipeline {
    /// The operators that read `upstream`, each as (its place in [`Pipeline::operators`], which of its inputs): in the order
    /// of the operators, a join's left input first. An operator that reads it twice comes twice.
    pub fn consumers(&self, upstream: Upstream) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.operators.iter().enumerate().flat_map(move |(operator, of)| {
            let inputs = of.inputs.iter().enumerate();
            inputs.filter(move |(_, input)| **input == upstream).map(move |(input, _)| (operator, input))
        })
    }

    /// The sinks that take an operator's results, each with its place in [`Pipeline::sinks`], in the order of the file.
    pub fn sinks_of(&self, operator: usize) -> impl Iterator<Item = (usize, &SinkSpec)> {
        self.sinks.iter().enumerate().filter(move |(_, sink)| sink.input == operator)
    }

    /// Where a source stands in the file: `source`, or `sources[i]`.
    #[must_use]
    pub fn source_path(&self, source: usize) -> String {
        match self.form {
            Form::Short => "source".into(),
            Form::Long => item("sources", source),
        }
    }

    /// Where a source's map hook stands: `map`, or `sources[i].map`.
    #[must_use]
    pub fn source_map_path(&self, source: usize) -> String {
        match self.form {
            Form::Short => "map".into(),
            Form::Long => key(&item("sources", source), "map"),
        }
    }

    /// Where a key of an operator stands: `window`, or `operators[i].window`. The key is one segment, such as `aggregate`.
    #[must_use]
    pub fn operator_path(&self, operator: usize, name: &str) -> String {
        key(&self.operator_base(operator), name)
    }

    /// Where a sink stands: `sink`, or `sinks[i]`.
    #[must_use]
    pub fn sink_path(&self, sink: usize) -> String {
        match self.form {
            Form::Short => "sink".into(),
            Form::Long => item("sinks", sink),
        }
    }

    /// The place of the object that holds an operator's keys: the top of the file, or `operators[i]`.
    pub(crate) fn operator_base(&self, operator: usize) -> String {
        match (self.form, self.operators.get(operator)) {
            (Form::Long, Some(operator)) => item("operators", operator.place),
            _ => String::new(),
        }
    }

    /// The hooks in the order of a record's way: those behind sources, then each operator's: its own (map, process, custom
    /// window, join) before its aggregates'.
    #[must_use]
    pub fn hooks(&self) -> Vec<NamedHook<'_>> {
        let behind_sources = self.sources.iter().enumerate().filter_map(|(source, of)| {
            let path = self.source_map_path(source);
            let named = |hook| NamedHook { path, role: HookRole::Map, source: Some(source), operator: None, hook };
            of.map.as_ref().map(named)
        });
        let of_operators = (0..self.operators.len()).flat_map(|operator| self.hooks_of(operator));
        behind_sources.chain(of_operators).collect()
    }

    /// An operator's hooks.
    fn hooks_of(&self, operator: usize) -> Vec<NamedHook<'_>> {
        let named = |path: String, role, hook| NamedHook { path, role, source: None, operator: Some(operator), hook };
        let own = |name: &str, role, hook| vec![named(self.operator_path(operator, name), role, hook)];
        match &self.operators[operator].kind {
            OperatorSpec::Map(hook) => own("map", HookRole::Map, hook),
            OperatorSpec::Process(process) => own("process", HookRole::Process, &process.hook),
            OperatorSpec::Join(join) => match &join.output {
                JoinOutput::Hook(hook) => own("join", HookRole::Join, hook),
                JoinOutput::Select(_) => Vec::new(),
            },
            OperatorSpec::Window(windowed) => {
                let mut hooks = match &windowed.window.kind {
                    WindowKind::Custom { hook } => own("window", HookRole::Window, hook),
                    _ => Vec::new(),
                };
                let base = self.operator_path(operator, "aggregate");
                hooks.extend(windowed.aggregates.iter().filter_map(|aggregate| match aggregate {
                    Aggregate::Hook { name, hook } => Some(named(key(&base, name), HookRole::Aggregate, hook)),
                    Aggregate::Builtin { .. } => None,
                }));
                hooks
            }
        }
    }

    /// The logs that the job reads, each with the path that names it (`source.log`), in the order of the file. A log that
    /// several sources read comes several times.
    #[must_use]
    pub fn logs_read(&self) -> Vec<(String, &str)> {
        let sources = self.sources.iter().enumerate();
        sources.map(|(source, of)| (key(&self.source_path(source), "log"), of.log.as_str())).collect()
    }

    /// The logs that the file says the job writes, each with the path that names it: sinks', then operators' too-late
    /// outputs, then the dead letters'. What the platform names by itself is not among them.
    #[must_use]
    pub fn logs_written(&self) -> Vec<(String, &str)> {
        let sinks = self.sinks.iter().enumerate().filter_map(|(sink, of)| match &of.sink {
            Sink::Log { log } | Sink::TransactionalLog { log, .. } => {
                Some((key(&self.sink_path(sink), "log"), log.as_str()))
            }
            Sink::UpsertStore { .. } | Sink::Outbox { .. } | Sink::Parquet { .. } => None,
        });
        let late = self
            .operators
            .iter()
            .enumerate()
            .filter_map(|(operator, of)| Some((self.late_output_path(operator), of.late_side_output()?)));
        let dead = self.dead_letter_output.iter().map(|log| ("dead_letter_output".to_owned(), log.as_str()));
        sinks.chain(late).chain(dead).collect()
    }

    /// Where an operator's too-late output is named: `late_side_output`, `operators[i].late_side_output` or
    /// `operators[i].join.late_side_output`.
    #[must_use]
    pub fn late_output_path(&self, operator: usize) -> String {
        let is_join = matches!(self.operators.get(operator).map(|of| &of.kind), Some(OperatorSpec::Join(_)));
        let base = if is_join { self.operator_path(operator, "join") } else { self.operator_base(operator) };
        key(&base, "late_side_output")
    }

    /// Where the key of an operator's input is named: `key_by`, `operators[i].key_by`, or `operators[i].join.left.key_by` and
    /// `….right.key_by`.
    #[must_use]
    pub fn key_path(&self, operator: usize, input: usize) -> String {
        match self.operators.get(operator).map(|of| &of.kind) {
            Some(OperatorSpec::Join(_)) => {
                let side = if input == 0 { "left" } else { "right" };
                key(&key(&self.operator_path(operator, "join"), side), "key_by")
            }
            _ => self.operator_path(operator, "key_by"),
        }
    }

    /// The tables of upsert sinks, each with the path that names it (`sink.table`), in the order of the file.
    #[must_use]
    pub fn tables_written(&self) -> Vec<(String, &str)> {
        let sinks = self.sinks.iter().enumerate();
        let tables = sinks.filter_map(|(sink, of)| match &of.sink {
            Sink::UpsertStore { table, .. } => Some((key(&self.sink_path(sink), "table"), table.as_str())),
            _ => None,
        });
        tables.collect()
    }
}

impl Operator {
    /// The stable id that its state and its dead letters belong to: its hook's `uid` where the operator is a hook (map,
    /// process, custom window), else its name.
    #[must_use]
    pub fn id(&self) -> &str {
        match &self.kind {
            OperatorSpec::Map(hook) => &hook.uid,
            OperatorSpec::Process(process) => &process.hook.uid,
            OperatorSpec::Window(Windowed { window, .. }) => match &window.kind {
                WindowKind::Custom { hook } => &hook.uid,
                _ => &self.name,
            },
            OperatorSpec::Join(_) => &self.name,
        }
    }

    /// The fields that make the key, in order: a window's or a process hook's; a join's left input's; none of a map hook,
    /// which has no key.
    #[must_use]
    pub fn key_by(&self) -> &[String] {
        self.key_of_input(0)
    }

    /// The fields of an input's rows that make their key, in order. `input`: 0, or 1 for a join's right.
    #[must_use]
    pub fn key_of_input(&self, input: usize) -> &[String] {
        match &self.kind {
            OperatorSpec::Map(_) => &[],
            OperatorSpec::Window(windowed) => &windowed.key_by,
            OperatorSpec::Process(process) => &process.key_by,
            OperatorSpec::Join(join) if input == 0 => &join.left_key,
            OperatorSpec::Join(join) => &join.right_key,
        }
    }

    /// Whether it keeps state by key: every operator but a map hook.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        !matches!(self.kind, OperatorSpec::Map(_))
    }

    /// The window operator that it is, if it is one.
    #[must_use]
    pub fn windowed(&self) -> Option<&Windowed> {
        match &self.kind {
            OperatorSpec::Window(windowed) => Some(windowed),
            OperatorSpec::Map(_) | OperatorSpec::Join(_) | OperatorSpec::Process(_) => None,
        }
    }

    /// The log for rows that came too late, where the file names one.
    #[must_use]
    pub fn late_side_output(&self) -> Option<&str> {
        match &self.kind {
            OperatorSpec::Window(windowed) => windowed.late_side_output.as_deref(),
            OperatorSpec::Join(join) => join.late_side_output.as_deref(),
            OperatorSpec::Map(_) | OperatorSpec::Process(_) => None,
        }
    }
}
