//! What is made small must stay a pipeline that can be read.

use super::minimise;
use crate::generate::graph;
use crate::reference::interpret;

#[test]
fn a_graph_is_made_small_and_stays_a_graph() {
    let mut found = 0;
    for seed in 0..12 {
        let scenario = graph(seed);
        let before = scenario.pipeline.to_string().len();
        let small = minimise(scenario, &mut |candidate| interpret(candidate).lines.contains_key("too-late"));
        if interpret(&small).lines.contains_key("too-late") {
            found += 1;
            let lines: usize = small.files.iter().map(Vec::len).sum();
            assert!(lines <= 6, "seed {seed}: {lines} lines");
            assert!(small.pipeline.to_string().len() < before, "seed {seed}: {}", small.pipeline);
            assert_eq!(small.pipeline.get("sinks").items().len(), 1, "seed {seed}: {}", small.pipeline);
            assert_eq!(small.files.len(), small.sources.len(), "seed {seed}");
        }
    }
    assert!(found > 3, "{found} of 12 graphs have late rows");
}
