//! Makes the operators of a graph whose hooks are open, and the routes between them.
//!
//! What is read of a part decides which columns are decoded or carried on: nothing else crosses a route.

use std::sync::Arc;

use tidegate_formats::{DecodeSpec, Decoder};
use tidegate_pipeline::{
    Aggregate, Form, Format, OperatorSpec, Pipeline, Source, Strategy, Upstream, Windowed, shares_panes,
};
use tidegate_types::hooks::{AggregateHook, MapHook, MapPlan, WindowHook};
use tidegate_types::{Field, FieldType, Kind, PartitionId, ResultFields, Schema, Value};
use tidegate_windows::{ClockStart, SourceWatermarks};

use super::assembly::{Opened, OperatorPart, Parts, SourcePart};
use super::fields::{RAW, add, declared, named_fields, source_field};
use super::{Job, JobOptions, Node, Subtask};
use crate::chain::PaneRows;
use crate::exchange::Exchange;
use crate::join::{JoinConfig, hold_back, join_operator, join_reads};
use crate::map::MapOperator;
use crate::operator::Operator;
use crate::process::{ProcessConfig, ProcessOperator};
use crate::route::{InputId, MapRoute, OperatorRoute, Route};
use crate::source::SourceChain;
use crate::sources::Sources;
use crate::task::{RowsOf, Way};
use crate::window::{CustomWindows, HookedAggregate, WindowConfig, WindowOperator};

/// A graph whose hooks are open.
pub(super) struct Building<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) options: JobOptions,
    pub(super) parts: Parts,
}

/// Makes the routes out of one task.
struct Routing<'a> {
    pipeline: &'a Pipeline,
    operators: &'a mut [OperatorPart],
    schemas: &'a Schemas,
    options: &'a JobOptions,
    /// Routes to operators so far.
    places: usize,
}

/// The fields of the rows that come out of each part.
struct Schemas {
    sources: Vec<Arc<Schema>>,
    operators: Vec<Arc<Schema>>,
}

impl Schemas {
    fn of(&self, upstream: Upstream) -> &Arc<Schema> {
        match upstream {
            Upstream::Source(source) => &self.sources[source],
            Upstream::Operator(operator) => &self.operators[operator],
        }
    }
}

impl Building<'_> {
    /// The job.
    pub(super) fn job(mut self) -> Job {
        let pipeline = self.pipeline;
        let (chains, sources) = self.chains();
        let operators = (0..pipeline.operators.len()).map(|operator| Arc::new(self.schema_of(operator))).collect();
        let schemas = Schemas { sources, operators };
        let results = pipeline.sinks.iter().map(|sink| self.parts.operators[sink.input].results.clone()).collect();
        let mut routing = Routing {
            pipeline,
            operators: &mut self.parts.operators,
            schemas: &schemas,
            options: &self.options,
            places: 0,
        };
        let ways =
            (0..pipeline.sources.len()).map(|source| Way::new(routing.routes(Upstream::Source(source)))).collect();
        let nodes = (0..pipeline.operators.len()).filter(|operator| pipeline.operators[*operator].is_stateful());
        let nodes = nodes.map(|operator| self.node(operator, &schemas)).collect();
        let partitions = own_places(&self.options, pipeline.sources.len());
        Job {
            sources: Sources::new(chains, partitions),
            ways,
            nodes,
            results,
            batch_rows: self.options.batch_rows,
            names_operators: pipeline.form == Form::Long,
            max_parallelism: pipeline.max_parallelism,
            position: None,
        }
    }

    /// The chain of each source, and the fields of its rows.
    fn chains(&mut self) -> (Vec<SourceChain>, Vec<Arc<Schema>>) {
        let start = self.options.wall_clock.map_or(ClockStart::FirstArrival, ClockStart::Assignment);
        let mut chains = Vec::new();
        let mut schemas = Vec::new();
        for (place, source) in self.pipeline.sources.iter().enumerate() {
            let wanted = match &self.parts.sources[place].map {
                Some(map) => map_reads(source, map.plan()),
                None => self.wanted(Upstream::Source(place), |name, read| source_field(source, name, read)),
            };
            let decoded = Arc::new(Schema::new(wanted.clone()));
            let map_id: Arc<str> = source.map.as_ref().map_or("map", |hook| hook.uid.as_str()).into();
            let SourcePart { map, .. } = &mut self.parts.sources[place];
            let map =
                map.take().map(|hook| MapOperator::new(hook, Arc::clone(&map_id), &decoded, self.options.batch_rows));
            schemas.push(map.as_ref().map_or_else(|| Arc::clone(&decoded), |map| Arc::clone(map.schema())));
            let names: Vec<Value> =
                self.options.partitions.iter().filter(|of| of.source == place).map(|of| of.name.clone()).collect();
            chains.push(SourceChain {
                decoder: decoder(source, wanted, &self.options),
                decoded_schema: decoded,
                map,
                timed: source.timestamp_field.is_some(),
                watermarks: SourceWatermarks::new(&source.watermark, names.len(), start),
                partition_names: names,
                source_id: source.name.as_str().into(),
                map_id,
            });
        }
        (chains, schemas)
    }

    /// The fields of the rows of an operator that others read.
    fn schema_of(&self, operator: usize) -> Schema {
        let part = &self.parts.operators[operator];
        match part.results {
            ResultFields::Rows(_) => Schema::new(part.out.fields.clone()),
            // Of a pane only what is read becomes a column.
            ResultFields::Panes(_) => {
                let field = |name: &str, _: Option<&Field>| declared(&part.out.fields, name);
                let mut wanted = self.wanted(Upstream::Operator(operator), field);
                // What a hook reads and no pane has is null to it, as behind a map hook.
                wanted.retain(|field| part.out.fields.contains(field));
                Schema::new(wanted)
            }
        }
    }

    /// The fields that are read of an upstream's rows. `field`: what a field of this name is, which a hook reads so.
    fn wanted(&self, upstream: Upstream, field: impl Fn(&str, Option<&Field>) -> Field) -> Vec<Field> {
        let mut wanted = Vec::new();
        for (operator, input) in self.pipeline.consumers(upstream) {
            for (_, name) in named_fields(self.pipeline, operator, input) {
                add(&mut wanted, field(&name, None));
            }
            for read in self.hooks_read(operator, input) {
                add(&mut wanted, field(&read.name, Some(&read)));
            }
        }
        wanted
    }

    /// What an operator's hooks read of an input.
    fn hooks_read(&self, operator: usize, input: usize) -> Vec<Field> {
        match &self.parts.operators[operator].opened {
            Opened::Map(hooks) => {
                let plan = hooks[0].plan();
                plan.reads.columns.iter().cloned().chain(plan.keep.iter().map(Field::dynamic)).collect()
            }
            Opened::Window { aggregates, custom } => {
                let aggregates = aggregates[0].iter().map(|hook| &hook.plan().reads);
                let reads = aggregates.chain(custom.front().map(|hook| &hook.plan().reads));
                reads.flat_map(|reads| reads.columns.iter().cloned()).collect()
            }
            Opened::Join(hooks) => match &self.pipeline.operators[operator].kind {
                OperatorSpec::Join(join) => {
                    let [left, right] = join_reads(join, hooks.front().map(|hook| hook.plan()));
                    if input == 0 { left } else { right }
                }
                _ => Vec::new(),
            },
            Opened::Process(hooks) => hooks[0].plan().reads.columns.clone(),
        }
    }

    /// A stateful operator with its subtasks.
    fn node(&mut self, operator: usize, schemas: &Schemas) -> Node {
        let of = &self.pipeline.operators[operator];
        let inputs: Vec<Arc<Schema>> = of.inputs.iter().map(|input| Arc::clone(schemas.of(*input))).collect();
        let feeds = self.pipeline.consumers(Upstream::Operator(operator)).next().is_some();
        // A sink deals rows without a window to its partitions by the key that emitted them.
        let orders = feeds || (of.windowed().is_none() && self.pipeline.sinks_of(operator).next().is_some());
        let holds_back = match &of.kind {
            OperatorSpec::Join(join) => hold_back(join),
            OperatorSpec::Map(_) | OperatorSpec::Window(_) | OperatorSpec::Process(_) => 0,
        };
        let subtasks = (0..self.options.parallelism).map(|_| {
            let plain = self.operator(operator, &inputs, orders);
            let rows = feeds.then(|| match &self.parts.operators[operator].results {
                ResultFields::Panes(fields) => {
                    RowsOf::Panes(PaneRows::new(Arc::new(fields.clone()), Arc::clone(&schemas.operators[operator])))
                }
                ResultFields::Rows(_) => RowsOf::Rows(Arc::clone(&schemas.operators[operator])),
            });
            let mut routing = Routing {
                pipeline: self.pipeline,
                operators: &mut self.parts.operators,
                schemas,
                options: &self.options,
                places: 0,
            };
            let routes = routing.routes(Upstream::Operator(operator));
            let sinks = self.pipeline.sinks_of(operator).map(|(sink, _)| sink).collect();
            Subtask { operator: plain, heads: Vec::new(), sinks, rows, holds_back, routes }
        });
        let subtasks = subtasks.collect();
        Node { operator, inputs, subtasks }
    }

    /// One subtask's operator.
    fn operator(&mut self, operator: usize, inputs: &[Arc<Schema>], feeds: bool) -> Box<dyn Operator> {
        let of = &self.pipeline.operators[operator];
        let uid: Arc<str> = of.id().into();
        let batch_rows = self.options.batch_rows;
        match (&of.kind, &mut self.parts.operators[operator].opened) {
            (OperatorSpec::Window(windowed), Opened::Window { aggregates, custom }) => {
                let hooks = aggregates.pop_front().expect("hooks were opened for each subtask");
                let undoes = takes_retractions(self.pipeline, operator);
                let groups = self.pipeline.max_parallelism;
                let config = window_config(windowed, &inputs[0], uid, feeds, undoes, groups);
                Box::new(window_operator(config, hooks, custom.pop_front(), windowed, batch_rows))
            }
            (OperatorSpec::Join(join), Opened::Join(hooks)) => {
                let max_parallelism = self.pipeline.max_parallelism;
                let config = JoinConfig { join: join.clone(), operator: uid, feeds, batch_rows, max_parallelism };
                join_operator(config, hooks.pop_front())
            }
            (OperatorSpec::Process(process), Opened::Process(hooks)) => {
                let hook = hooks.pop_front().expect("hooks were opened for each subtask");
                let key_by = process.key_by.clone();
                let max_parallelism = self.pipeline.max_parallelism;
                let config = ProcessConfig { operator: uid, key_by, batch_rows, feeds, max_parallelism };
                Box::new(ProcessOperator::new(config, hook))
            }
            _ => unreachable!("an operator was opened as what it is, and maps are parts of routes"),
        }
    }
}

impl Routing<'_> {
    /// The routes out of a part.
    fn routes(&mut self, upstream: Upstream) -> Vec<Route> {
        let consumers: Vec<(usize, usize)> = self.pipeline.consumers(upstream).collect();
        let mut routes: Vec<Route> =
            consumers.into_iter().map(|(operator, input)| self.route(upstream, operator, input)).collect();
        if let Upstream::Operator(operator) = upstream
            && !self.pipeline.operators[operator].is_stateful()
        {
            routes.extend(self.pipeline.sinks_of(operator).map(|(sink, _)| Route::Sink(sink)));
        }
        routes
    }

    fn route(&mut self, upstream: Upstream, operator: usize, input: usize) -> Route {
        let of = &self.pipeline.operators[operator];
        if let Opened::Map(hooks) = &mut self.operators[operator].opened {
            let hook: Box<dyn MapHook> = hooks.pop_front().expect("a hook was opened for each task that it runs in");
            let id: Arc<str> = of.id().into();
            let map = MapOperator::new(hook, Arc::clone(&id), self.schemas.of(upstream), self.options.batch_rows);
            let routes = self.routes(Upstream::Operator(operator));
            return Route::Map(Box::new(MapRoute { map, id, routes }));
        }
        let place = self.places;
        self.places += 1;
        Route::Operator(OperatorRoute {
            to: InputId { operator, input },
            key_by: of.key_of_input(input).to_vec(),
            exchange: Exchange::new(self.pipeline.max_parallelism, self.options.parallelism),
            place,
        })
    }
}

/// Of each partition of the reader: its source, and its place among that source's.
fn own_places(options: &JobOptions, sources: usize) -> Vec<(usize, PartitionId)> {
    let mut counts = vec![0_u32; sources];
    let own = options.partitions.iter().map(|of| {
        let id = PartitionId(counts[of.source]);
        counts[of.source] += 1;
        (of.source, id)
    });
    own.collect()
}

/// Whether rows that an operator reads may take earlier ones back: those of a window operator that retracts, and that fires
/// more than once.
fn takes_retractions(pipeline: &Pipeline, operator: usize) -> bool {
    pipeline.operators[operator].inputs.iter().any(|input| match input {
        Upstream::Source(_) => false,
        Upstream::Operator(of) => match &pipeline.operators[*of].kind {
            OperatorSpec::Window(windowed) => {
                windowed.accumulation == tidegate_pipeline::Accumulation::AccumulatingAndRetracting
            }
            OperatorSpec::Map(_) => takes_retractions(pipeline, *of),
            OperatorSpec::Join(_) | OperatorSpec::Process(_) => false,
        },
    })
}

fn window_config(
    windowed: &Windowed,
    schema: &Arc<Schema>,
    operator: Arc<str>,
    feeds: bool,
    undoes: bool,
    max_parallelism: u32,
) -> WindowConfig {
    WindowConfig {
        kind: windowed.window.kind.clone(),
        lateness: windowed.window.allowed_lateness,
        shares_panes: shares_panes(windowed),
        early: windowed.trigger.early,
        late: windowed.trigger.late,
        accumulation: windowed.accumulation,
        dedup: windowed.dedup.clone(),
        aggregates: windowed.aggregates.clone(),
        schema: Arc::clone(schema),
        key_by: windowed.key_by.clone(),
        feeds,
        undoes,
        max_parallelism,
        operator,
    }
}

fn window_operator(
    config: WindowConfig,
    hooks: Vec<Box<dyn AggregateHook>>,
    custom: Option<Box<dyn WindowHook>>,
    windowed: &Windowed,
    batch_rows: usize,
) -> WindowOperator {
    let uids = windowed.aggregates.iter().filter_map(|aggregate| match aggregate {
        Aggregate::Hook { hook, .. } => Some(Arc::from(hook.uid.as_str())),
        Aggregate::Builtin { .. } => None,
    });
    let hooks = hooks.into_iter().zip(uids).map(|(hook, uid)| HookedAggregate::new(hook, uid, batch_rows)).collect();
    let uid = Arc::clone(&config.operator);
    let custom = custom.map(|hook| CustomWindows::new(hook, uid, batch_rows));
    WindowOperator::new(config, hooks, custom)
}

/// The fields to decode where a map hook stands behind the decoder: what it reads and what it keeps.
fn map_reads(source: &Source, plan: &MapPlan) -> Vec<Field> {
    let mut wanted = Vec::new();
    for field in &plan.reads.columns {
        add(&mut wanted, source_field(source, &field.name, Some(field)));
    }
    for name in &plan.keep {
        add(&mut wanted, declared(&source.schema, name));
    }
    wanted
}

fn decoder(source: &Source, fields: Vec<Field>, options: &JobOptions) -> Decoder {
    if source.format == Format::Raw {
        return Decoder::raw(fields);
    }
    let undeclared_raw = |field: &Field| {
        field.name == RAW
            && field.field_type == FieldType::Typed { kind: Kind::Bytes, nullable: false }
            && declared(&source.schema, RAW).field_type == FieldType::Dynamic
    };
    let checks =
        source.schema.iter().filter(|field| fields.iter().all(|other| other.name != field.name)).cloned().collect();
    Decoder::json(DecodeSpec {
        raw: fields.iter().position(undeclared_raw),
        checks,
        fields,
        time: source.timestamp_field.clone(),
        punctuation: match &source.watermark.strategy {
            Strategy::Punctuated { field } => Some(field.clone()),
            _ => None,
        },
        arrival: options.arrival_field.clone(),
    })
}
