//! Sound files of the long form, and the graph that they mean.

use tidegate_types::Millis;

use super::{GRAPH, accept, graph, graph_all};
use crate::{
    ComponentRef, Form, Hook, HookRole, Join, JoinKind, JoinOutput, JoinSide, Matching, Operator, OperatorKind,
    OperatorSpec, Pipeline, Process, Selected, Sink, SinkSpec, Stamp, Upstream, WindowKind, operator_ids,
};

fn hook(uid: &str, component: &str, config: serde_json::Value) -> Hook {
    let component = ComponentRef { name: component.into(), version: Some("1.0.0".into()) };
    Hook { uid: uid.into(), component, config }
}

fn join(text: &str) -> Join {
    match &operator(&accept(text).pipeline, "attributed").kind {
        OperatorSpec::Join(join) => join.clone(),
        other => panic!("{other:?}"),
    }
}

fn operator<'a>(pipeline: &'a Pipeline, name: &str) -> &'a Operator {
    pipeline.operators.iter().find(|operator| operator.name == name).expect("an operator of this name")
}

fn names(pipeline: &Pipeline) -> Vec<&str> {
    pipeline.operators.iter().map(|operator| operator.name.as_str()).collect()
}

#[test]
fn reads_sources_operators_and_sinks_as_a_graph() {
    let parsed = accept(GRAPH);
    let pipeline = &parsed.pipeline;
    assert_eq!((pipeline.form, pipeline.precedence, pipeline.max_parallelism), (Form::Long, 0, 1024));
    let sources: Vec<_> = pipeline.sources.iter().map(|source| (source.name.as_str(), source.map.clone())).collect();
    let decode = hook("impressions.map", "decode", serde_json::json!({}));
    assert_eq!(sources, [("impressions", Some(decode)), ("clicks", None)]);
    assert_eq!(names(pipeline), ["attributed", "per_minute", "features", "cleaned"]);
    let inputs: Vec<_> = pipeline.operators.iter().map(|operator| operator.inputs.clone()).collect();
    let (source, before) = (Upstream::Source, Upstream::Operator);
    assert_eq!(inputs, [vec![source(0), source(1)], vec![before(0)], vec![source(1)], vec![before(2)]]);
    let features = hook("features", "features", serde_json::json!({"depth": 4}));
    let process = Process { key_by: vec!["user".into()], hook: features };
    assert_eq!(operator(pipeline, "features").kind, OperatorSpec::Process(process));
    assert_eq!(operator(pipeline, "cleaned").kind, OperatorSpec::Map(hook("clean", "clean", serde_json::json!({}))));
    let log = SinkSpec {
        name: "per_minute".into(),
        input: 1,
        sink: Sink::Log { log: "out".into() },
        stamp: Stamp::default(),
    };
    let table = SinkSpec {
        name: "profiles".into(),
        input: 3,
        sink: Sink::UpsertStore { table: "profiles".into(), key: vec!["user".into()] },
        stamp: Stamp { version: true, ..Stamp::default() },
    };
    assert_eq!(pipeline.sinks, [log, table]);
    assert_eq!(parsed.warnings, []);
}

#[test]
fn reads_an_interval_join() {
    let selected = |name: &str, side, field: &str| Selected { name: name.into(), side, field: field.into() };
    let expected = Join {
        kind: JoinKind::Interval { lower: 0, upper: 600_000 },
        matching: Matching::Left,
        left_key: vec!["impression_id".into()],
        right_key: vec!["impression".into()],
        allowed_lateness: Millis(0),
        output: JoinOutput::Select(vec![
            selected("campaign_id", JoinSide::Left, "campaign_id"),
            selected("clicked_at", JoinSide::Right, "at"),
        ]),
        late_side_output: Some("late".into()),
    };
    assert_eq!(join(GRAPH), expected);
    let interval = |lower: &str, upper: &str| {
        join(&graph_all(&[("lower: 0s", &format!("lower: {lower}")), ("upper: 10m", &format!("upper: {upper}"))])).kind
    };
    assert_eq!(interval("-10s", "-1ms"), JoinKind::Interval { lower: -10_000, upper: -1 });
    assert_eq!(interval("\"-1d\"", "-0s"), JoinKind::Interval { lower: -86_400_000, upper: 0 });
    assert_eq!(interval("5s", "5s"), JoinKind::Interval { lower: 5_000, upper: 5_000 });
    for (word, matching) in
        [("inner", Matching::Inner), ("right", Matching::Right), ("full", Matching::Full), ("left", Matching::Left)]
    {
        assert_eq!(join(&graph("matching: left", &format!("matching: {word}"))).matching, matching);
    }
    assert_eq!(join(&graph("      matching: left\n", "")).matching, Matching::Inner);
    let late = graph("upper: 10m", "upper: 10m\n      allowed_lateness: 30s");
    assert_eq!(join(&late).allowed_lateness, Millis(30_000));
    let dotted = graph("left.campaign_id", "left.campaign.id");
    assert_eq!(join(&dotted).output, {
        let JoinOutput::Select(mut fields) = expected.output else { panic!("a projection") };
        fields[0].field = "campaign.id".into();
        JoinOutput::Select(fields)
    });
}

#[test]
fn reads_a_window_join_and_a_hook_over_pairs() {
    let text = graph_all(&[
        ("type: interval", "type: window"),
        (
            "      matching: left\n      lower: 0s\n      upper: 10m\n",
            "      window: {type: sliding, size: 1m, slide: 10s, offset: 3s}\n",
        ),
        (
            "select: {campaign_id: left.campaign_id, clicked_at: right.at}",
            "component: pair@1.0.0\n      config: {a: 1}",
        ),
    ]);
    let join = join(&text);
    let sliding = WindowKind::Sliding { size: Millis(60_000), slide: Millis(10_000), offset: Millis(3_000) };
    assert_eq!((join.kind, join.matching), (JoinKind::Window(sliding), Matching::Inner));
    assert_eq!(join.output, JoinOutput::Hook(hook("attributed.pairs", "pair", serde_json::json!({"a": 1}))));
}

#[test]
fn puts_operators_after_what_they_read_and_keeps_their_places_in_the_file() {
    let entry = |name: &str| {
        let start = GRAPH.find(&format!("  - name: {name}\n")).expect("an entry");
        let rest = &GRAPH[start + 4..];
        let end = rest.find("\n  - ").or_else(|| rest.find("\nsinks:")).expect("an end");
        format!("  - {}\n", rest[..end].split("\nsinks:").next().expect("an entry"))
    };
    let (head, rest) = GRAPH.split_once("operators:\n").expect("operators");
    let (_, sinks) = rest.split_once("sinks:\n").expect("sinks");
    let order = ["cleaned", "per_minute", "features", "attributed"].map(entry).concat();
    let text = format!("{head}operators:\n{order}sinks:\n{sinks}");
    let pipeline = accept(&text).pipeline;
    assert_eq!(names(&pipeline), ["features", "cleaned", "attributed", "per_minute"]);
    let places: Vec<usize> = pipeline.operators.iter().map(|operator| operator.place).collect();
    assert_eq!(places, [2, 0, 3, 1]);
    assert_eq!(pipeline.operators[1].inputs, [Upstream::Operator(0)]);
    assert_eq!(pipeline.operators[3].inputs, [Upstream::Operator(2)]);
    let sinks: Vec<_> = pipeline.sinks.iter().map(|sink| sink.input).collect();
    assert_eq!(sinks, [3, 1]);
    assert_eq!(pipeline.operator_path(0, "process"), "operators[2].process");
}

#[test]
fn tells_who_reads_what() {
    let pipeline = accept(GRAPH).pipeline;
    let consumers = |upstream| pipeline.consumers(upstream).collect::<Vec<_>>();
    assert_eq!(consumers(Upstream::Source(1)), [(0, 1), (2, 0)]);
    assert_eq!(consumers(Upstream::Operator(0)), [(1, 0)]);
    assert_eq!(consumers(Upstream::Operator(3)), []);
    let sinks: Vec<_> = pipeline.sinks_of(3).map(|(place, sink)| (place, sink.name.as_str())).collect();
    assert_eq!(sinks, [(1, "profiles")]);
    let own = |list: Vec<(String, &str)>| -> Vec<(String, String)> {
        list.into_iter().map(|(path, name)| (path, name.to_owned())).collect()
    };
    let pair = |path: &str, name: &str| (path.to_owned(), name.to_owned());
    assert_eq!(own(pipeline.logs_read()), [pair("sources[0].log", "impressions"), pair("sources[1].log", "clicks")]);
    let written = [pair("sinks[0].log", "out"), pair("operators[0].join.late_side_output", "late")];
    assert_eq!(own(pipeline.logs_written()), written);
    assert_eq!(own(pipeline.tables_written()), [pair("sinks[1].table", "profiles")]);
    assert_eq!(pipeline.operators[0].key_by(), ["impression_id"]);
    assert_eq!(pipeline.operators[0].key_of_input(1), ["impression"]);
    assert_eq!(pipeline.key_path(0, 1), "operators[0].join.right.key_by");
    assert_eq!((pipeline.operators[2].key_by().len(), pipeline.operators[3].key_by().len()), (1, 0));
    assert_eq!((pipeline.operators[2].is_stateful(), pipeline.operators[3].is_stateful()), (true, false));
}

#[test]
fn lists_hooks_in_the_order_of_a_record() {
    let text = graph_all(&[
        ("select: {campaign_id: left.campaign_id, clicked_at: right.at}", "component: pair@1.0.0"),
        ("window: {type: tumbling, size: 1m}", "window: {type: custom, component: hours@1.0.0}"),
        ("aggregate: {clicks: {fn: count, field: clicked_at}}", "aggregate: {sketch: {component: sketch@1.0.0}}"),
    ]);
    let pipeline = accept(&text).pipeline;
    let hooks: Vec<_> = pipeline
        .hooks()
        .into_iter()
        .map(|named| (named.path, named.role, named.source, named.operator, named.hook.uid.clone()))
        .collect();
    let expected = [
        ("sources[0].map", HookRole::Map, Some(0), None, "impressions.map"),
        ("operators[0].join", HookRole::Join, None, Some(0), "attributed.pairs"),
        ("operators[1].window", HookRole::Window, None, Some(1), "per_minute"),
        ("operators[1].aggregate.sketch", HookRole::Aggregate, None, Some(1), "per_minute.aggregate.sketch"),
        ("operators[2].process", HookRole::Process, None, Some(2), "features"),
        ("operators[3].map", HookRole::Map, None, Some(3), "clean"),
    ];
    let expected = expected.map(|(path, role, source, of, uid)| (path.to_owned(), role, source, of, uid.to_owned()));
    assert_eq!(hooks, expected);
    let short = accept(&super::edited("key_by:", "map: {component: decode@1.0.0}\nkey_by:")).pipeline;
    let hooks = short.hooks();
    assert_eq!((hooks[0].path.as_str(), hooks[0].source, hooks[0].operator), ("map", Some(0), None));
}

#[test]
fn gives_the_parts_of_an_operator_ids_below_its_own() {
    let text = graph(
        "    key_by: [campaign_id]\n",
        "    key_by: [campaign_id]\n    dedup: {field: clicked_at, horizon: 1m}\n",
    );
    let ids: Vec<_> = operator_ids(&accept(&text).pipeline).into_iter().map(|id| (id.id, id.kind, id.path)).collect();
    let expected = [
        ("impressions.map", OperatorKind::Map, "sources[0].map"),
        ("attributed", OperatorKind::Join, "operators[0].join"),
        ("per_minute.dedup", OperatorKind::Dedup, "operators[1].dedup"),
        ("per_minute", OperatorKind::Window, "operators[1].window"),
        ("per_minute.aggregate.clicks", OperatorKind::Aggregate, "operators[1].aggregate.clicks"),
        ("features", OperatorKind::Process, "operators[2].process"),
        ("clean", OperatorKind::Map, "operators[3].map"),
    ];
    assert_eq!(ids, expected.map(|(id, kind, path)| (id.to_owned(), kind, path.to_owned())));
}

#[test]
fn reads_precedence_and_stamps_in_both_forms() {
    for text in [super::BASE, GRAPH] {
        let given = |value: &str| {
            let text = text.replace("version: 1\n", &format!("version: 1\nprecedence: {value}\n"));
            accept(&text).pipeline.precedence
        };
        assert_eq!(accept(text).pipeline.precedence, 0);
        assert_eq!((given("7"), given("-2147483648"), given("2147483647")), (7, i32::MIN, i32::MAX));
    }
    let stamp = |words: &str| {
        accept(&super::edited("type: upsert_store", &format!("type: upsert_store\n  stamp: [{words}]"))).pipeline.sinks
            [0]
        .stamp
    };
    assert_eq!(stamp(""), Stamp::default());
    assert_eq!(stamp("generated_at, version"), Stamp { version: true, completeness: false, generated_at: true });
    assert_eq!(stamp("completeness"), Stamp { completeness: true, ..Stamp::default() });
}

#[test]
fn takes_one_input_for_both_sides_and_several_readers() {
    let text = graph("left: {input: impressions,", "left: {input: clicks,")
        .replace("  - name: features\n    input: clicks\n", "  - name: features\n    input: impressions\n");
    let pipeline = accept(&text).pipeline;
    assert_eq!(pipeline.operators[0].inputs, [Upstream::Source(1), Upstream::Source(1)]);
    assert_eq!(pipeline.consumers(Upstream::Source(1)).collect::<Vec<_>>(), [(0, 0), (0, 1)]);
}

#[test]
fn takes_a_field_of_a_join_key_that_meets_two() {
    let text =
        graph_all(&[("[impression_id]", "[impression_id, impression_id]"), ("[impression]", "[impression, user]")]);
    assert_eq!(accept(&text).pipeline.operators[0].key_by(), ["impression_id", "impression_id"]);
}

#[test]
fn reads_the_long_form_as_json() {
    let root = crate::reader::read(GRAPH).expect("well-formed");
    let json = serde_json::to_string_pretty(&root.content.to_json()).expect("JSON");
    assert_eq!(accept(&json).pipeline, accept(GRAPH).pipeline);
}
