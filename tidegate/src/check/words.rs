//! The parts of a pipeline in words. The terms are those of docs/semantics.md.

use tidegate_pipeline::{
    Accumulation, Aggregate, Early, Format, Function, Hook, Join, JoinKind, JoinOutput, JoinSide, Late, Matching,
    OperatorSpec, Pipeline, Selected, Sink, Source, Strategy, Upstream, WatermarkSpec, Window, WindowKind, Windowed,
};
use tidegate_types::Millis;

pub(super) fn source(source: &Source) -> String {
    let format = match source.format {
        Format::Json => "JSON records",
        Format::Avro => "Avro records",
        Format::Raw => "raw records",
    };
    let time = match &source.timestamp_field {
        Some(field) => format!("event time in `{field}`"),
        None => "event time from the map hook".to_owned(),
    };
    let fields = match source.schema.len() {
        0 => "no field declared (all dynamic)".to_owned(),
        1 => "1 field declared".to_owned(),
        count => format!("{count} fields declared"),
    };
    format!("{format} from log `{}`; {time}; {fields}", source.log)
}

pub(super) fn watermark(watermark: &WatermarkSpec) -> String {
    let mut text = match &watermark.strategy {
        Strategy::BoundedOutOfOrderness { max_delay } => format!("{max_delay} behind each partition's newest record"),
        Strategy::Ascending => "at each partition's newest record".to_owned(),
        Strategy::Punctuated { field } => format!("where field `{field}` puts it"),
        Strategy::None => "none before the end of the input".to_owned(),
    };
    if let Some(timeout) = watermark.idle_partition_timeout {
        text.push_str(&format!("; a partition silent for {timeout} is idle and holds nothing back"));
    }
    if let Some(drift) = watermark.max_drift {
        text.push_str(&format!("; no partition runs more than {drift} ahead (not applied by `tidegate run`)"));
    }
    text
}

pub(super) fn hook(hook: &Hook) -> String {
    let version = hook.component.version.as_ref().map_or_else(String::new, |version| format!("@{version}"));
    format!("hook of component `{}{version}`", hook.component.name)
}

fn key(fields: &[String]) -> String {
    if fields.is_empty() { "none: all records have one key".to_owned() } else { fields.join(", ") }
}

fn window(window: &Window) -> String {
    let moved = |offset: Millis| if offset.0 == 0 { String::new() } else { format!(", moved by {offset}") };
    let shape = match &window.kind {
        WindowKind::Tumbling { size, offset } => format!("tumbling, {size} each{}", moved(*offset)),
        WindowKind::Sliding { size, slide, offset } => format!("sliding, {size} every {slide}{}", moved(*offset)),
        WindowKind::Session { gap, max_duration: None } => format!("sessions that end after {gap} of silence"),
        WindowKind::Session { gap, max_duration: Some(longest) } => {
            format!("sessions that end after {gap} of silence, at most {longest} long")
        }
        WindowKind::Global => return "global: one for all time".to_owned(),
        WindowKind::Custom { hook: of } => format!("custom, by the {}", hook(of)),
    };
    match window.allowed_lateness {
        Millis(0) => format!("{shape}; takes no late records"),
        lateness => format!("{shape}; takes late records for {lateness}"),
    }
}

/// What a source or an operator is called.
pub(super) fn called(pipeline: &Pipeline, upstream: Upstream) -> &str {
    match upstream {
        Upstream::Source(source) => &pipeline.sources[source].name,
        Upstream::Operator(operator) => &pipeline.operators[operator].name,
    }
}

/// An operator's lines.
pub(super) fn operator(pipeline: &Pipeline, place: usize) -> Vec<(&'static str, String)> {
    match &pipeline.operators[place].kind {
        OperatorSpec::Map(of) => vec![("map", hook(of))],
        OperatorSpec::Process(process) => vec![("key", key(&process.key_by)), ("process", hook(&process.hook))],
        OperatorSpec::Join(of) => vec![("key", join_key(of)), ("join", join(of)), ("output", join_output(&of.output))],
        OperatorSpec::Window(windowed) => {
            let mut lines = vec![("key", key(&windowed.key_by))];
            lines.extend(
                windowed.dedup.iter().map(|dedup| {
                    ("dedup", format!("`{}`, remembered for {} of event time", dedup.field, dedup.horizon))
                }),
            );
            lines.push(("window", window(&windowed.window)));
            lines.push(("panes", panes(windowed)));
            let name = |place| if place == 0 { "aggregate" } else { "" };
            let aggregates = windowed.aggregates.iter().enumerate();
            lines.extend(aggregates.map(|(place, of)| (name(place), aggregate(of))));
            lines
        }
    }
}

fn join_key(join: &Join) -> String {
    if join.left_key == join.right_key {
        key(&join.left_key)
    } else {
        format!("{} on the left, {} on the right", key(&join.left_key), key(&join.right_key))
    }
}

fn join(join: &Join) -> String {
    let shape = match &join.kind {
        JoinKind::Interval { lower, upper } => {
            format!("rows of a key whose right time is {lower} ms to {upper} ms after the left")
        }
        JoinKind::Window(kind) => format!(
            "rows of a key in one window: {}",
            window(&Window { kind: kind.clone(), allowed_lateness: join.allowed_lateness })
        ),
    };
    let unmatched = match join.matching {
        Matching::Inner => "rows without a partner are dropped",
        Matching::Left => "left rows without a partner come out",
        Matching::Right => "right rows without a partner come out",
        Matching::Full => "rows without a partner come out",
    };
    match (&join.kind, join.allowed_lateness) {
        (JoinKind::Interval { .. }, Millis(1..)) => {
            format!("{shape}; {unmatched}; takes late rows for {}", join.allowed_lateness)
        }
        _ => format!("{shape}; {unmatched}"),
    }
}

fn join_output(output: &JoinOutput) -> String {
    match output {
        JoinOutput::Hook(of) => hook(of),
        JoinOutput::Select(selected) => {
            let one = |selected: &Selected| {
                let side = if selected.side == JoinSide::Left { "left" } else { "right" };
                format!("{} = {side}.{}", selected.name, selected.field)
            };
            selected.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    }
}

fn panes(pipeline: &Windowed) -> String {
    let global = matches!(pipeline.window.kind, WindowKind::Global);
    let early = match pipeline.trigger.early {
        Early::None => None,
        Early::EveryProcessingTime(every) => Some(format!("early every {every} of processing time")),
        Early::EveryElements(1) => Some("early at every record".to_owned()),
        Early::EveryElements(count) => Some(format!("early every {count} records")),
    };
    let on_time = if global { "at the end of the input" } else { "on time" };
    let late = match pipeline.trigger.late {
        _ if global || pipeline.window.allowed_lateness.0 == 0 => None,
        Late::EveryElement => Some("late at every record".to_owned()),
        Late::EveryProcessingTime(every) => Some(format!("late every {every} of processing time")),
        Late::None => Some("late records counted but not shown".to_owned()),
    };
    let each = match pipeline.accumulation {
        Accumulation::Discarding => "each has the records since the one before",
        Accumulation::Accumulating => "each has all records so far",
        Accumulation::AccumulatingAndRetracting => "each has all records so far, after a retraction of the one before",
    };
    let firings: Vec<String> = early.into_iter().chain([on_time.to_owned()]).chain(late).collect();
    format!("{}; {each}", firings.join(", "))
}

fn aggregate(aggregate: &Aggregate) -> String {
    let (name, function, field, condition) = match aggregate {
        Aggregate::Hook { name, hook: of } => return format!("{name}: {}", hook(of)),
        Aggregate::Builtin { name, function, field, condition } => (name, function, field, condition),
    };
    let of = field.as_ref().map_or_else(|| "rows".to_owned(), |field| format!("`{field}`"));
    let meaning = match function {
        Function::Count if field.is_some() => format!("how many {of} are present"),
        Function::Count => "how many records".to_owned(),
        Function::Sum => format!("sum of {of}"),
        Function::Min => format!("smallest {of}"),
        Function::Max => format!("largest {of}"),
        Function::Avg => format!("mean of {of}"),
        Function::First => format!("{of} of the earliest record"),
        Function::Last => format!("{of} of the latest record"),
        Function::CountDistinct => format!("how many different {of}"),
        Function::ApproxCountDistinct => format!("about how many different {of} (1.6% standard error)"),
        Function::TopK { k } => format!("the {k} most frequent {of}"),
    };
    match condition {
        Some(condition) => format!("{name} = {meaning} where `{}` is {}", condition.field, literal(&condition.equals)),
        None => format!("{name} = {meaning}"),
    }
}

/// A value as JSON.
fn literal(value: &tidegate_types::Value) -> String {
    let mut text = Vec::new();
    tidegate_formats::write_value(&mut text, value.as_ref());
    String::from_utf8_lossy(&text).into_owned()
}

pub(super) fn sink(sink: &Sink) -> String {
    match sink {
        Sink::UpsertStore { table, key } => format!("rows of table `{table}`, one for each {}", key.join(", ")),
        Sink::TransactionalLog { log, .. } => format!("log `{log}`, exactly once"),
        Sink::Log { log } => format!("log `{log}`, at least once"),
        Sink::Outbox { table } => {
            format!("outbox{}", table.as_ref().map_or(String::new(), |table| format!(" `{table}`")))
        }
        Sink::Parquet { table } => {
            format!("Parquet files{}", table.as_ref().map_or(String::new(), |table| format!(" of table `{table}`")))
        }
    }
}
