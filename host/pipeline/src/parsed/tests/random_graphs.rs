//! Random graphs: which are accepted is what a plain search says, and those that are come out in order, nothing lost.
//!
//! A failure shows the seed and the smallest graph; `PROPTEST_RNG_SEED=<seed> cargo test -p tidegate-pipeline` replays it.

use std::collections::BTreeSet;
use std::fmt::Write;

use proptest::prelude::*;

use super::random::config;
use crate::schema::tests::faults_of;
use crate::{Operator, Pipeline, Upstream, operator_ids, parse};

/// What an operator does.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Map,
    Window,
    Process,
    Join,
}

/// A graph: how many sources, each operator with two inputs (only a join reads the second), and which operators have sinks.
/// Inputs below the number of sources are sources, the others operators.
#[derive(Debug, Clone)]
struct Graph {
    sources: usize,
    operators: Vec<(Kind, usize, usize)>,
    sinks: Vec<usize>,
}

impl Graph {
    fn reads(&self, operator: usize) -> Vec<usize> {
        let (kind, first, second) = self.operators[operator];
        if matches!(kind, Kind::Join) { vec![first, second] } else { vec![first] }
    }

    /// The file.
    fn text(&self) -> String {
        let name = |part: usize| match part.checked_sub(self.sources) {
            None => format!("s{part}"),
            Some(operator) => format!("o{operator}"),
        };
        let mut text = "job: j\nversion: 1\nsources:\n".to_owned();
        for source in 0..self.sources {
            writeln!(text, "- {{name: s{source}, log: l, timestamp_field: t, watermark: {{strategy: none}}}}")
                .expect("text");
        }
        text.push_str("operators:\n");
        for (operator, (kind, first, second)) in self.operators.iter().enumerate() {
            let (first, second) = (name(*first), name(*second));
            let does = match kind {
                Kind::Map => format!("input: {first}, map: {{component: a@1.0.0}}"),
                Kind::Process => format!("input: {first}, key_by: [k], process: {{component: a@1.0.0}}"),
                Kind::Window => format!(
                    "input: {first}, key_by: [k], window: {{type: tumbling, size: 1m}}, aggregate: {{n: {{fn: count}}}}"
                ),
                Kind::Join => format!(
                    "join: {{type: interval, lower: -1s, upper: 1s, select: {{k: left.k}}, left: {{input: {first}, key_by: \
                     [k]}}, right: {{input: {second}, key_by: [k]}}}}"
                ),
            };
            writeln!(text, "- {{name: o{operator}, {does}}}").expect("text");
        }
        text.push_str("sinks:\n");
        for (place, operator) in self.sinks.iter().enumerate() {
            writeln!(text, "- {{name: k{place}, input: o{operator}, type: log, log: out}}").expect("text");
        }
        text
    }

    /// Whether it has no circle, and every part is read.
    fn is_sound(&self) -> bool {
        let count = self.operators.len();
        let read: BTreeSet<usize> = (0..count).flat_map(|operator| self.reads(operator)).collect();
        let to_sink = |part: usize| part.checked_sub(self.sources).is_some_and(|at| self.sinks.contains(&at));
        let all_read = (0..self.sources + count).all(|part| read.contains(&part) || to_sink(part));
        all_read && (0..count).all(|operator| !self.reaches(operator, operator, &mut BTreeSet::new()))
    }

    /// Whether `from` reads `to`, straight or through others.
    fn reaches(&self, from: usize, to: usize, seen: &mut BTreeSet<usize>) -> bool {
        let operators = self.reads(from).into_iter().filter_map(|part| part.checked_sub(self.sources));
        operators.into_iter().any(|read| read == to || (seen.insert(read) && self.reaches(read, to, seen)))
    }
}

/// Graphs whose inputs mostly stand before their readers, so that about half are sound.
fn graphs() -> impl Strategy<Value = Graph> {
    let kind = prop_oneof![Just(Kind::Map), Just(Kind::Window), Just(Kind::Process), Just(Kind::Join)];
    let operator = (kind, any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::bool::weighted(0.05));
    let operators = prop::collection::vec(operator, 1..7);
    (1..4_usize, operators, prop::collection::vec(any::<prop::sample::Index>(), 1..4)).prop_map(
        |(sources, drawn, sinks)| {
            let count = drawn.len();
            let operators: Vec<(Kind, usize, usize)> = drawn
                .iter()
                .enumerate()
                .map(|(at, (kind, first, second, anywhere))| {
                    let among = if *anywhere { sources + count } else { sources + at };
                    (*kind, first.index(among), second.index(among))
                })
                .collect();
            let mut graph = Graph { sources, operators, sinks: sinks.iter().map(|sink| sink.index(count)).collect() };
            // What nothing reads gets a sink, and sources that nothing reads are a fault now and then.
            for operator in 0..count {
                let unread = (0..count).all(|reader| !graph.reads(reader).contains(&(sources + operator)));
                if unread && !graph.sinks.contains(&operator) {
                    graph.sinks.push(operator);
                }
            }
            graph
        },
    )
}

/// Checks that the pipeline is the graph.
fn is_the_graph(pipeline: &Pipeline, graph: &Graph) -> Result<(), TestCaseError> {
    let place_of = |name: &str| name[1..].parse::<usize>().expect("a number");
    let part = |upstream: &Upstream| match upstream {
        Upstream::Source(source) => place_of(&pipeline.sources[*source].name),
        Upstream::Operator(operator) => graph.sources + place_of(&pipeline.operators[*operator].name),
    };
    prop_assert_eq!(pipeline.operators.len(), graph.operators.len());
    for (at, operator) in pipeline.operators.iter().enumerate() {
        let Operator { name, place, inputs, .. } = operator;
        prop_assert_eq!(*place, place_of(name));
        let before = |upstream: &Upstream| !matches!(upstream, Upstream::Operator(read) if *read >= at);
        prop_assert!(inputs.iter().all(before), "{} reads what comes later", name);
        prop_assert_eq!(inputs.iter().map(part).collect::<Vec<_>>(), graph.reads(*place));
        for (input, upstream) in inputs.iter().enumerate() {
            prop_assert!(pipeline.consumers(*upstream).any(|consumer| consumer == (at, input)));
        }
    }
    let sinks: Vec<usize> = pipeline.sinks.iter().map(|sink| pipeline.operators[sink.input].place).collect();
    prop_assert_eq!(sinks, graph.sinks.clone());
    let ids: BTreeSet<String> = operator_ids(pipeline).into_iter().map(|operator| operator.id).collect();
    prop_assert_eq!(ids.len(), operator_ids(pipeline).len());
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn graphs_without_circles_and_unread_parts_are_accepted_in_order(graph in graphs()) {
        let text = graph.text();
        match parse(&text) {
            Ok(parsed) => {
                prop_assert!(graph.is_sound(), "accepted:\n{text}");
                is_the_graph(&parsed.pipeline, &graph)?;
                prop_assert_eq!(faults_of(&text), Vec::<String>::new());
            }
            Err(error) => {
                prop_assert!(!graph.is_sound(), "{error}\n{text}");
                let line = error.line.expect("a line");
                let shown = text.lines().nth(line - 1).expect("a line of the file");
                prop_assert!(shown.starts_with("- {name: "), "{error}\n{shown}");
            }
        }
    }
}
