//! Goes through a pipeline's graph in order and opens each hook once what it reads is known.
//!
//! Each part's hooks tell the fields that it puts out, which those behind it are opened with. `building` makes the operators
//! once all hooks are open.

use std::collections::VecDeque;

use tidegate_pipeline::{
    Aggregate, HookRole, Join, JoinOutput, NamedHook, OperatorSpec, Pipeline, Upstream, Windowed, check_custom_chain,
    check_row_outputs,
};
use tidegate_types::batch::index;
use tidegate_types::hooks::{AggregateHook, MapHook, ProcessHook, WindowHook};
use tidegate_types::{Field, PaneFields, ResultFields, Schema};

use super::building::Building;
use super::fields::{OutFields, behind_map, check, declared, map_input, named_fields};
use super::{AssemblyError, Job, JobError, JobOptions, OpenHooks};
use crate::aggregate::Builtins;
use crate::chain::window_fields;
use crate::join::{join_output, join_reads, pair_fields, unknown_pair_field};

/// Puts a job together.
pub(super) fn assemble<H: OpenHooks>(
    pipeline: &Pipeline,
    hooks: H,
    options: JobOptions,
) -> Result<Job, AssemblyError<H::Error>> {
    let mut opening = Opening { pipeline, named: pipeline.hooks(), hooks, subtasks: index(options.parallelism) };
    let sources = opening.sources()?;
    let mut parts = Parts { sources, operators: Vec::new() };
    for operator in 0..pipeline.operators.len() {
        let part = opening.operator(&parts, operator)?;
        parts.operators.push(part);
    }
    Ok(Building { pipeline, options, parts }.job())
}

/// The opened parts of a graph.
pub(super) struct Parts {
    pub(super) sources: Vec<SourcePart>,
    pub(super) operators: Vec<OperatorPart>,
}

pub(super) struct SourcePart {
    pub(super) map: Option<Box<dyn MapHook>>,
    pub(super) out: OutFields,
}

pub(super) struct OperatorPart {
    pub(super) opened: Opened,
    pub(super) out: OutFields,
    /// The names of the fields of its results.
    pub(super) results: ResultFields,
}

/// The hooks of an operator.
pub(super) enum Opened {
    /// One for each task that it runs in.
    Map(VecDeque<Box<dyn MapHook>>),
    /// For each subtask.
    Window { aggregates: VecDeque<Vec<Box<dyn AggregateHook>>>, custom: VecDeque<Box<dyn WindowHook>> },
    /// For each subtask; none with a projection.
    Join(VecDeque<Box<dyn MapHook>>),
    /// For each subtask.
    Process(VecDeque<Box<dyn ProcessHook>>),
}

impl Parts {
    fn out(&self, upstream: Upstream) -> &OutFields {
        match upstream {
            Upstream::Source(source) => &self.sources[source].out,
            Upstream::Operator(operator) => &self.operators[operator].out,
        }
    }
}

/// Opens hooks.
struct Opening<'a, H> {
    pipeline: &'a Pipeline,
    named: Vec<NamedHook<'a>>,
    hooks: H,
    subtasks: usize,
}

impl<'a, H: OpenHooks> Opening<'a, H> {
    fn sources(&mut self) -> Result<Vec<SourcePart>, AssemblyError<H::Error>> {
        let mut parts = Vec::new();
        for (place, source) in self.pipeline.sources.iter().enumerate() {
            let named = self.named.iter().find(|named| named.source == Some(place)).cloned();
            let map = named.map(|named| self.hooks.map(&named, &map_input(source))).transpose();
            let map = map.map_err(AssemblyError::Hook)?;
            let out = match &map {
                None => OutFields { fields: source.schema.clone(), only: None },
                Some(map) => OutFields {
                    fields: behind_map(map.plan(), &source.schema),
                    only: Some("the map hook neither puts out nor keeps".into()),
                },
            };
            parts.push(SourcePart { map, out });
        }
        Ok(parts)
    }

    fn operator(&mut self, parts: &Parts, operator: usize) -> Result<OperatorPart, AssemblyError<H::Error>> {
        let of = &self.pipeline.operators[operator];
        let inputs: Vec<&OutFields> = of.inputs.iter().map(|input| parts.out(*input)).collect();
        for (input, out) in inputs.iter().enumerate() {
            check(&named_fields(self.pipeline, operator, input), out)?;
        }
        match &of.kind {
            OperatorSpec::Map(_) => self.map(operator, inputs[0]),
            OperatorSpec::Window(windowed) => self.window(operator, windowed, inputs[0]),
            OperatorSpec::Join(join) => self.join(operator, join, &inputs),
            OperatorSpec::Process(_) => self.process(operator, inputs[0]),
        }
    }

    fn named(&self, operator: usize, role: HookRole) -> Vec<NamedHook<'a>> {
        self.named.iter().filter(|named| named.operator == Some(operator) && named.role == role).cloned().collect()
    }

    /// The fields of an operator's key.
    fn key(&self, operator: usize, input: &OutFields) -> Vec<Field> {
        let keys = self.pipeline.operators[operator].key_by().iter();
        keys.map(|name| declared(&input.fields, name)).collect()
    }

    fn map(&mut self, operator: usize, input: &OutFields) -> Result<OperatorPart, AssemblyError<H::Error>> {
        let named = self.named(operator, HookRole::Map).remove(0);
        let mut hooks = VecDeque::new();
        for _ in 0..self.tasks_of_map(operator) {
            hooks.push_back(self.hooks.map(&named, &input.fields).map_err(AssemblyError::Hook)?);
        }
        let plan = hooks[0].plan();
        let reads: Vec<(String, String)> = plan.keep.iter().map(|name| (named.path.clone(), name.clone())).collect();
        check(&reads, input)?;
        let fields = behind_map(plan, &input.fields);
        Ok(self.rows(operator, Opened::Map(hooks), fields)?)
    }

    /// In how many tasks a map operator runs: where the rows that it reads are made.
    fn tasks_of_map(&self, operator: usize) -> usize {
        match self.pipeline.operators[operator].inputs[0] {
            Upstream::Source(_) => 1,
            Upstream::Operator(of) if self.pipeline.operators[of].is_stateful() => self.subtasks,
            Upstream::Operator(of) => self.tasks_of_map(of),
        }
    }

    fn window(
        &mut self,
        operator: usize,
        windowed: &Windowed,
        input: &OutFields,
    ) -> Result<OperatorPart, AssemblyError<H::Error>> {
        let key = self.key(operator, input);
        let (of_aggregates, of_windows) =
            (self.named(operator, HookRole::Aggregate), self.named(operator, HookRole::Window));
        let mut aggregates = VecDeque::new();
        let mut custom: VecDeque<Box<dyn WindowHook>> = VecDeque::new();
        for _ in 0..self.subtasks {
            let open = of_aggregates.iter().map(|named| self.hooks.aggregate(named, &key, &input.fields));
            aggregates.push_back(open.collect::<Result<Vec<_>, _>>().map_err(AssemblyError::Hook)?);
        }
        let values = value_fields(windowed, input, &aggregates[0]);
        for _ in 0..self.subtasks {
            for named in &of_windows {
                let opened = self.hooks.window(named, &key, &input.fields, &values);
                custom.push_back(opened.map_err(AssemblyError::Hook)?);
            }
        }
        let plan = custom.front().map(|hook| hook.plan());
        if let Some(plan) = plan {
            check_custom_chain(self.pipeline, operator, plan.decides, plan.emits)?;
        }
        let plan = plan.filter(|plan| plan.emits);
        let emitted = plan.map_or(values, |plan| plan.output.clone());
        let fields = pane_fields(self.pipeline, operator, windowed, &aggregates[0], plan.is_some(), &emitted)?;
        let out = key.into_iter().chain(emitted).chain(window_fields()).collect();
        let only = Some(self.puts_out_no(operator));
        let results = ResultFields::Panes(fields);
        Ok(OperatorPart {
            opened: Opened::Window { aggregates, custom },
            out: OutFields { fields: out, only },
            results,
        })
    }

    fn join(
        &mut self,
        operator: usize,
        join: &Join,
        inputs: &[&OutFields],
    ) -> Result<OperatorPart, AssemblyError<H::Error>> {
        let (left, right) = (&inputs[0].fields, &inputs[1].fields);
        let JoinOutput::Hook(_) = &join.output else {
            let fields = join_output(join, left, right, None);
            return Ok(self.rows(operator, Opened::Join(VecDeque::new()), fields)?);
        };
        let named = self.named(operator, HookRole::Join).remove(0);
        let pairs = pair_fields(left, right, join.matching);
        let open = (0..self.subtasks).map(|_| self.hooks.map(&named, &pairs));
        let hooks: VecDeque<_> = open.collect::<Result<_, _>>().map_err(AssemblyError::Hook)?;
        let plan = hooks[0].plan();
        if let Some(name) = unknown_pair_field(plan) {
            let reason =
                format!("the hook reads `{name}`; the fields of pairs are called `left.<name>` and `right.<name>`");
            return Err(JobError { path: named.path, reason }.into());
        }
        let [of_left, of_right] = join_reads(join, Some(plan));
        for (fields, input) in [(of_left, inputs[0]), (of_right, inputs[1])] {
            let names: Vec<_> = fields.into_iter().map(|field| (named.path.clone(), field.name)).collect();
            check(&names, input)?;
        }
        let fields = join_output(join, left, right, Some(plan));
        Ok(self.rows(operator, Opened::Join(hooks), fields)?)
    }

    fn process(&mut self, operator: usize, input: &OutFields) -> Result<OperatorPart, AssemblyError<H::Error>> {
        let key = self.key(operator, input);
        let named = self.named(operator, HookRole::Process).remove(0);
        let open = (0..self.subtasks).map(|_| self.hooks.process(&named, &key, &input.fields));
        let hooks: VecDeque<_> = open.collect::<Result<_, _>>().map_err(AssemblyError::Hook)?;
        let fields = hooks[0].plan().output.clone();
        Ok(self.rows(operator, Opened::Process(hooks), fields)?)
    }

    /// An operator that puts out rows with these fields.
    fn rows(&self, operator: usize, opened: Opened, fields: Vec<Field>) -> Result<OperatorPart, JobError> {
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        check_row_outputs(self.pipeline, operator, &names)?;
        let results = ResultFields::Rows(names);
        Ok(OperatorPart { opened, out: OutFields { fields, only: Some(self.puts_out_no(operator)) }, results })
    }

    fn puts_out_no(&self, operator: usize) -> String {
        format!("`{}` puts out no field", self.pipeline.operators[operator].name)
    }
}

/// The fields of a pane's value, in the order of the file: what a window hook is opened with.
fn value_fields(windowed: &Windowed, input: &OutFields, hooks: &[Box<dyn AggregateHook>]) -> Vec<Field> {
    let schema = Schema::new(input.fields.clone());
    let mut builtins = Builtins::new(&windowed.aggregates, &schema).output_fields().into_iter();
    let mut hooks = hooks.iter();
    let mut values = Vec::new();
    for aggregate in &windowed.aggregates {
        match aggregate {
            Aggregate::Builtin { .. } => values.extend(builtins.next()),
            Aggregate::Hook { .. } => values.extend(hooks.next().iter().flat_map(|hook| hook.plan().output.clone())),
        }
    }
    values
}

/// The output fields: those of `key_by`, then each aggregate's, or what the window hook emits instead of those. A name
/// that stands twice is refused.
fn pane_fields(
    pipeline: &Pipeline,
    operator: usize,
    windowed: &Windowed,
    hooks: &[Box<dyn AggregateHook>],
    emits: bool,
    emitted: &[Field],
) -> Result<PaneFields, JobError> {
    let mut fields = PaneFields { keys: windowed.key_by.clone(), values: Vec::new() };
    if emits {
        let path = pipeline.operator_path(operator, "window") + ".component";
        return emitted.iter().try_fold(fields, |fields, field| with_output(fields, &field.name, &path));
    }
    let mut hooks = hooks.iter();
    for aggregate in &windowed.aggregates {
        match aggregate {
            Aggregate::Builtin { name, .. } => fields.values.push(name.clone()),
            Aggregate::Hook { name, .. } => {
                let outputs = hooks.next().map(|hook| hook.plan().output.as_slice()).unwrap_or_default();
                let path = format!("{}.{name}", pipeline.operator_path(operator, "aggregate"));
                for output in outputs {
                    fields = with_output(fields, &output.name, &path)?;
                }
            }
        }
    }
    Ok(fields)
}

/// Adds a hook's output field.
fn with_output(mut fields: PaneFields, name: &str, path: &str) -> Result<PaneFields, JobError> {
    const RESERVED: [&str; 5] = ["window_start", "window_end", "pane", "watermark", "op"];
    if fields.keys.iter().chain(&fields.values).any(|other| other == name) || RESERVED.contains(&name) {
        let reason =
            format!("the hook's output field `{name}` has the name of another field of the result; rename one");
        return Err(JobError { path: path.to_owned(), reason });
    }
    fields.values.push(name.to_owned());
    Ok(fields)
}
