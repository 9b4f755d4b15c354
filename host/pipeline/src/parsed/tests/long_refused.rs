//! Wrong files of the long form, each with the path, the line and a phrase of the reason that its author sees.

use super::{GRAPH, accept, edited, graph, graph_all, refused};

/// An edit of the graph (what is replaced, by what), the path and the line blamed, a phrase of the reason.
type Case = (&'static str, &'static str, &'static str, usize, &'static str);

fn check(cases: &[Case]) {
    for (old, new, path, line, phrase) in cases {
        refused(&graph(old, new), path, *line, phrase);
    }
}

const WINDOW: &str = "    window: {type: tumbling, size: 1m}\n";
const SELECT: &str = "      select: {campaign_id: left.campaign_id, clicked_at: right.at}\n";

#[test]
fn names_the_nearest_key_or_name_for_an_unknown_one() {
    check(&[
        ("operators:\n", "operator:\n", "operator", 10, "did you mean `operators`?"),
        ("  - name: impressions\n", "  - nam: impressions\n", "sources[0].nam", 4, "did you mean `name`?"),
        ("    log: impressions", "    logs: impressions", "sources[0].logs", 5, "did you mean `log`?"),
        ("    key_by: [campaign_id]", "    keyby: [campaign_id]", "operators[1].keyby", 23, "did you mean `key_by`?"),
        ("      matching: left", "      match: left", "operators[0].join.match", 16, "did you mean `matching`?"),
        ("matching: left", "matching: outer", "operators[0].join.matching", 16, "known: `inner`"),
        ("matching: left", "matching: lefts", "operators[0].join.matching", 16, "did you mean `left`?"),
        ("type: interval", "type: intervall", "operators[0].join.type", 13, "did you mean `interval`?"),
        ("left: {input:", "left: {inputs:", "operators[0].join.left.inputs", 14, "did you mean `input`?"),
        (
            "left: {input: impressions",
            "left: {input: impresions",
            "operators[0].join.left.input",
            14,
            "did you mean `impressions`?",
        ),
        ("    input: attributed", "    input: atributed", "operators[1].input", 22, "did you mean `attributed`?"),
        ("{input: per_minute,", "{input: per_minut,", "sinks[0].input", 34, "did you mean `per_minute`?"),
        ("{input: per_minute,", "{input: 3,", "sinks[0].input", 34, "put it in quotes"),
        ("stamp: [version]", "stamp: [versions]", "sinks[1].stamp[0]", 35, "did you mean `version`?"),
        ("log: out", "log: out, tabel: x", "sinks[0].tabel", 34, "did you mean `table`?"),
    ]);
}

#[test]
fn names_a_key_that_is_missing_and_what_to_write() {
    check(&[
        ("  - name: impressions\n    log", "  - log", "sources[0].name", 4, "such as `name: clicks`"),
        ("    log: impressions\n", "", "sources[0].log", 4, "name the log"),
        ("  - name: per_minute\n    input", "  - input", "operators[1].name", 21, "such as `name: per_minute`"),
        ("    input: attributed\n", "", "operators[1].input", 21, "name the source or the operator"),
        ("    key_by: [campaign_id]\n", "", "operators[1].key_by", 21, "`key_by: []` for one key"),
        (
            "    aggregate: {clicks: {fn: count, field: clicked_at}}\n",
            "",
            "operators[1].aggregate",
            21,
            "`aggregate` is missing",
        ),
        (WINDOW, "", "operators[1].window", 21, "`window` is missing"),
        ("    key_by: [user]\n", "", "operators[2].key_by", 26, "`key_by` is missing"),
        (
            "    map: {component: clean@1.0.0, uid: clean}\n",
            "",
            "operators[3]",
            30,
            "exactly one of `window`, `join`, `process`, `map`",
        ),
        ("      type: interval\n", "", "operators[0].join.type", 12, "`type: window`"),
        ("      lower: 0s\n", "", "operators[0].join.lower", 12, "such as `lower: 0s`"),
        ("      upper: 10m\n", "", "operators[0].join.upper", 12, "such as `upper: 10m`"),
        (SELECT, "", "operators[0].join.select", 12, "`select` is missing"),
        (
            "      right: {input: clicks, key_by: [impression]}\n",
            "",
            "operators[0].join.right",
            12,
            "name an input and its key",
        ),
        (
            "right: {input: clicks, key_by: [impression]}",
            "right: {input: clicks}",
            "operators[0].join.right.key_by",
            15,
            "`key_by` is missing",
        ),
        ("{input: per_minute, type", "{type", "sinks[0].input", 34, "name the operator"),
    ]);
    let (without_sinks, _) = GRAPH.split_once("sinks:").expect("sinks");
    refused(without_sinks, "sinks", 1, "`sinks` is missing; say where results go");
    refused(&format!("{without_sinks}sinks: []\n"), "sinks", 33, "the list is empty");
    let (head, _) = GRAPH.split_once("operators:").expect("operators");
    refused(head, "operators", 1, "list at least one operator");
    refused("job: a\nversion: 1\nsources: []\n", "sources", 3, "list at least one source");
    refused("job: a\nversion: 1\nsources: {a: 1}\n", "sources", 3, "a list, is needed");
    refused("job: a\nversion: 1\noperators: []\n", "sources", 1, "`sources` is missing");
}

#[test]
fn refuses_forms_that_mix_naming_the_keys() {
    let mixed = |key: &str| format!("{key}{GRAPH}");
    let phrase = "`sources` belongs to the long form of the file and `window` to the short one";
    refused(&mixed("window: {type: tumbling, size: 1m}\n"), "sources", 4, phrase);
    refused(&mixed("late_side_output: late\n"), "sources", 4, "`late_side_output` to the short one");
    refused(&mixed("map: {component: a@1.0.0}\n"), "sources", 4, "`map` to the short one");
    refused(&edited("version: 1", "version: 1\noperators: []"), "operators", 3, "`source` to the short one");
    refused(&edited("version: 1", "version: 1\nsinks: {}"), "sinks", 3, "do not mix");
    accept(&format!("dead_letter_output: dead\nparallelism: 2\ncheckpoint: {{interval: 1s}}\n{GRAPH}"));
}

#[test]
fn refuses_operators_that_are_several_things_or_have_keys_of_another() {
    check(&[
        (
            WINDOW,
            "    window: {type: tumbling, size: 1m}\n    map: {component: a@1.0.0}\n",
            "operators[1].map",
            25,
            "`window` and `map` are two operators",
        ),
        (
            "    key_by: [user]\n",
            "    key_by: [user]\n    dedup: {field: a, horizon: 1s}\n",
            "operators[2].dedup",
            29,
            "does not belong to process hooks",
        ),
        (
            "    input: features\n",
            "    input: features\n    key_by: [a]\n",
            "operators[3].key_by",
            32,
            "does not belong to map hooks",
        ),
        (
            "  - name: attributed\n",
            "  - name: attributed\n    input: clicks\n",
            "operators[0].input",
            12,
            "`join.left` and `join.right`",
        ),
        (
            "  - name: attributed\n",
            "  - name: attributed\n    late_side_output: x\n",
            "operators[0].late_side_output",
            12,
            "`join.late_side_output`",
        ),
        (
            "    process: {component: features@1.0.0, config: {depth: 4}}",
            "    process: features",
            "operators[2].process",
            29,
            "an object with the keys",
        ),
        (
            "{component: clean@1.0.0, uid: clean}",
            "{uid: clean}",
            "operators[3].map.component",
            32,
            "`component` is missing",
        ),
    ]);
}

#[test]
fn refuses_joins_that_are_none() {
    check(&[
        ("lower: 0s", "lower: 10m1", "operators[0].join.lower", 17, "no unit that is known"),
        ("lower: 0s", "lower: -10", "operators[0].join.lower", 17, "write `-10ms`"),
        ("lower: 0s", "lower: --10s", "operators[0].join.lower", 17, "is negative"),
        ("lower: 0s", "lower: 11m", "operators[0].join.lower", 17, "`lower` is above `upper`"),
        ("upper: 10m", "upper: -1s", "operators[0].join.lower", 17, "exchange them"),
        ("upper: 10m", "upper: 3652426d", "operators[0].join.upper", 18, "10,000 years"),
        ("lower: 0s", "lower:", "operators[0].join.lower", 17, "this is empty"),
        (
            "upper: 10m",
            "upper: 10m\n      window: {type: tumbling, size: 1m}",
            "operators[0].join.window",
            19,
            "has no windows",
        ),
        ("type: interval", "type: window", "operators[0].join.lower", 17, "has no interval"),
        (
            "[impression]",
            "[impression, user]",
            "operators[0].join.right.key_by",
            15,
            "the left key has 1 fields and the right one 2",
        ),
        ("late_side_output: late", "component: pair@1.0.0", "operators[0].join.component", 20, "keep one of them"),
        ("late_side_output: late", "uid: pair", "operators[0].join.uid", 20, "belongs to a hook"),
        ("left.campaign_id", "campaign_id", "operators[0].join.select.campaign_id", 19, "names no side"),
        ("left.campaign_id", "left.", "operators[0].join.select.campaign_id", 19, "names no side"),
        ("left.campaign_id", "lft.campaign_id", "operators[0].join.select.campaign_id", 19, "`left.` or `right.`"),
        (
            "{campaign_id: left.campaign_id, clicked_at: right.at}",
            "{}",
            "operators[0].join.select",
            19,
            "nothing is selected",
        ),
        (
            "{campaign_id: left.campaign_id,",
            "{'': left.campaign_id,",
            "operators[0].join.select.\"\"",
            19,
            "name is empty",
        ),
    ]);
    let window = |window: &str, more: &str| {
        let bounds = "      matching: left\n      lower: 0s\n      upper: 10m\n";
        graph_all(&[("type: interval", "type: window"), (bounds, &format!("      window: {window}\n{more}"))])
    };
    accept(&window("{type: tumbling, size: 1m}", "      allowed_lateness: 1m\n      matching: inner\n"));
    let join = |key: &str| format!("operators[0].join.{key}");
    refused(&window("{type: session, gap: 1m}", ""), &join("window.type"), 16, "use `tumbling` or `sliding`");
    refused(&window("{type: global}", ""), &join("window.type"), 16, "use `tumbling` or `sliding`");
    refused(
        &window("{type: tumbling, size: 1m, allowed_lateness: 1m}", ""),
        &join("window.allowed_lateness"),
        16,
        "move it there",
    );
    refused(&window("{type: sliding, size: 100001ms, slide: 1ms}", ""), &join("window.slide"), 16, "at least 2ms");
    accept(&window("{type: sliding, size: 100s, slide: 1ms}", ""));
    refused(&window("{type: tumbling, size: 1m}", "      matching: full\n"), &join("matching"), 17, "gives pairs only");
    let missing = graph_all(&[("type: interval", "type: window"), ("      lower: 0s\n      upper: 10m\n", "")]);
    refused(&missing, &join("window"), 12, "`window` is missing");
}

#[test]
fn refuses_graphs_that_have_no_order() {
    check(&[
        ("    input: attributed", "    input: per_minute", "operators[1].input", 22, "would read its own results"),
        (
            "    input: clicks\n",
            "    input: cleaned\n",
            "operators[2].input",
            27,
            "each of `features`, `cleaned`, `features` reads the next",
        ),
        ("right: {input: clicks,", "right: {input: per_minute,", "operators[0].join.right.input", 15, "in a circle"),
    ]);
}

#[test]
fn refuses_parts_that_nothing_reads_and_names_that_are_taken() {
    check(&[
        ("  - {input: per_minute, type: log, log: out}\n", "", "operators[1].name", 21, "nothing reads `per_minute`"),
        (
            "operators:\n",
            "  - {name: x, log: x, timestamp_field: at, watermark: {strategy: none}}\noperators:\n",
            "sources[2].name",
            10,
            "nothing reads `x`",
        ),
        ("{name: clicks,", "{name: impressions,", "sources[1].name", 9, "belongs to `sources[0]` already"),
        ("- name: features", "- name: clicks", "operators[2].name", 26, "belongs to `sources[1]` already"),
        ("- name: features", "- name: per_minute", "operators[2].name", 26, "belongs to `operators[1]` already"),
        (
            "{input: per_minute, type: log, log: out}",
            "{input: clicks, type: log, log: out}",
            "sinks[0].input",
            34,
            "takes the results of an operator",
        ),
        (
            "name: profiles",
            "name: per_minute",
            "sinks[1].name",
            35,
            "the sink `sinks[0]` is called `per_minute` already",
        ),
        (
            "{input: per_minute, type: log, log: out}",
            "{input: cleaned, name: profiles, type: log, log: out}",
            "sinks[1].name",
            35,
            "called `profiles` already",
        ),
        ("uid: clean", "uid: features", "operators[3].map.uid", 32, "belongs to `operators[2].process` already"),
        ("uid: clean", "uid: clicks", "operators[3].map.uid", 32, "belongs to `sources[1]` already"),
        ("- name: features", "- name: per_minute.aggregate.clicks", "operators[3].input", 31, "no source or operator"),
    ]);
    let twice = GRAPH.to_owned() + "  - {input: per_minute, type: log, log: again}\n";
    refused(&twice, "sinks[2].name", 36, "give this one a `name`");
    let dotted = graph("name: per_minute\n", "name: features.x\n").replace("input: per_minute", "input: features.x");
    accept(&dotted);
    let clash = GRAPH
        .replace("name: features\n", "name: per_minute.aggregate.clicks\n")
        .replace("input: features\n", "input: per_minute.aggregate.clicks\n");
    refused(&clash, "operators[2].name", 26, "belongs to `operators[1].aggregate.clicks` already");
}

#[test]
fn refuses_more_parts_than_a_job_has() {
    let operators = |count: usize| -> String {
        (0..count).map(|at| format!("  - {{name: o{at}, input: cleaned, map: {{component: a@1.0.0}}}}\n")).collect()
    };
    let sinks = |count: usize| -> String {
        (0..count).map(|at| format!("  - {{input: cleaned, name: s{at}, type: log, log: out}}\n")).collect()
    };
    let too_many = graph("sinks:\n", &format!("{}sinks:\n", operators(59)));
    refused(&too_many, "operators", 10, "65 sources and operators are too many");
    let too_many = GRAPH.to_owned() + &sinks(15);
    refused(&too_many, "sinks", 33, "17 sinks are too many");
    accept(&(GRAPH.to_owned() + &sinks(14)));
}

#[test]
fn refuses_precedence_and_stamps_that_are_none() {
    let precedence = |value: &str| edited("version: 1", &format!("version: 1\nprecedence: {value}"));
    for (value, phrase) in [
        ("1.5", "a whole number"),
        ("\"1\"", "without quotes"),
        ("2147483648", "from -2147483648 to 2147483647"),
        ("18446744073709551615", "from -2147483648"),
        ("", "this is empty"),
        ("high", "this is text"),
    ] {
        refused(&precedence(value), "precedence", 3, phrase);
    }
    let stamp = |value: &str| edited("type: upsert_store", &format!("type: upsert_store\n  stamp: {value}"));
    refused(&stamp("version"), "sink.stamp", 18, "put brackets around it");
    refused(&stamp("[pane]"), "sink.stamp[0]", 18, "known: `version`");
    refused(&stamp("[version, version]"), "sink.stamp[1]", 18, "in the list already");
    let clash = stamp("[version]").replace("price: sum", "version: sum");
    refused(&clash, "sink.stamp", 18, "`version` is a field of the result already");
    accept(&clash.replace("stamp: [version]", "stamp: [completeness]"));
}

#[test]
fn names_short_files_that_need_the_long_form() {
    let cases = [
        ("version: 1", "version: 1\njoin: {type: interval}", "join", 3),
        ("version: 1", "version: 1\nprocess: {component: a}", "process", 3),
        ("version: 1", "version: 1\njoins: []", "joins", 3),
        (
            "sink:\n  type: upsert_store\n  table: clicks_minute\n  key: [shop, country, window_start]",
            "sink: [{type: log}]",
            "sink",
            16,
        ),
    ];
    for (old, new, path, line) in cases {
        refused(&edited(old, new), path, line, "needs the long form");
    }
}
