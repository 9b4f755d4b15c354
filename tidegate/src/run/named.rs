//! `[NAME=]FILE` flags of a run: which of the pipeline's sources a file is read for, and which sink's results one takes.
//!
//! The name may be left out where there is one only. In the short form, whose parts have no names, a flag that begins with
//! something else and `=` is a file's name.

use std::collections::BTreeMap;

use tidegate_connectors::{Input, Output};
use tidegate_pipeline::{Form, Pipeline};
use tidegate_types::Value;

use crate::failure::Failure;

const INPUT: &str = "--input";
const OUTPUT: &str = "--output";

/// A file that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceFile {
    /// The source, by its place in the pipeline.
    pub(super) source: usize,
    pub(super) input: Input,
}

/// The inputs, in the order of the flags.
///
/// # Errors
/// If a flag names no source where there are several, or a source has no file.
pub(super) fn inputs(pipeline: &Pipeline, flags: &[String]) -> Result<Vec<SourceFile>, Failure> {
    let names: Vec<&str> = pipeline.sources.iter().map(|source| source.name.as_str()).collect();
    let file = |flag: &String| {
        let (source, file) = split(INPUT, "source", &names, pipeline.form, flag)?;
        Ok(SourceFile { source, input: Input::from_flag(file) })
    };
    let files = flags.iter().map(file).collect::<Result<Vec<_>, Failure>>()?;
    let without = (0..names.len()).find(|source| files.iter().all(|file| file.source != *source));
    match without {
        Some(source) if names.len() > 1 => {
            let name = names[source];
            Err(Failure::invalid(format!("{INPUT}: nothing is read for the source `{name}`; add {INPUT} {name}=FILE")))
        }
        _ => Ok(files),
    }
}

/// What to call the partitions of these files: each the file's place among its source's, or, of a single source, what its
/// reader calls them.
pub(super) fn partition_names(files: &[SourceFile], read: &[Value]) -> Vec<(usize, Value)> {
    if files.len() != read.len() {
        return read.iter().map(|name| (0, name.clone())).collect();
    }
    let mut places: BTreeMap<usize, i64> = BTreeMap::new();
    let place = |(file, name): (&SourceFile, &Value)| {
        let place = places.entry(file.source).or_default();
        *place += 1;
        let alone = files.iter().all(|other| other.source == 0);
        (file.source, if alone { name.clone() } else { Value::Int(*place - 1) })
    };
    files.iter().zip(read).map(place).collect()
}

/// Where each sink's results go, in the order of the pipeline's sinks.
///
/// # Errors
/// If a flag names no sink where there are several, or a sink has no file, or two.
pub(super) fn outputs(pipeline: &Pipeline, flags: &[String]) -> Result<Vec<Output>, Failure> {
    let names: Vec<&str> = pipeline.sinks.iter().map(|sink| sink.name.as_str()).collect();
    let mut outputs: Vec<Option<Output>> = vec![None; names.len()];
    for flag in flags {
        let (sink, file) = split(OUTPUT, "sink", &names, pipeline.form, flag)?;
        if outputs[sink].replace(Output::from_flag(file)).is_some() {
            let name = names[sink];
            return Err(Failure::invalid(format!("{OUTPUT} {flag}: the sink `{name}` has a file already; keep one")));
        }
    }
    if names.len() == 1 {
        return Ok(vec![outputs.remove(0).unwrap_or(Output::Stdout)]);
    }
    let given = |(name, output): (&&str, Option<Output>)| {
        output.ok_or_else(|| {
            Failure::invalid(format!(
                "{OUTPUT}: the pipeline has {} sinks, and results of two are not mixed; add {OUTPUT} {name}=FILE",
                names.len()
            ))
        })
    };
    names.iter().zip(outputs).map(given).collect()
}

/// The place of the name that a flag begins with, and its file.
fn split<'a>(flag: &str, what: &str, names: &[&str], form: Form, text: &'a str) -> Result<(usize, &'a str), Failure> {
    let named = text.split_once('=').and_then(|(name, file)| {
        let place = names.iter().position(|other| *other == name)?;
        Some((place, file))
    });
    match named {
        Some((_, "")) => Err(Failure::invalid(format!("{flag} {text}: no file is named after the `=`"))),
        Some(named) => Ok(named),
        None if names.len() == 1 && !(form == Form::Long && begins_with_a_name(text)) => Ok((0, text)),
        None if names.len() == 1 => Err(Failure::invalid(format!(
            "{flag} {text}: the pipeline's {what} is called `{}`; write {flag} {}=FILE, or {flag} ./{text} for a file of that name",
            names[0], names[0]
        ))),
        None => {
            let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            Err(Failure::invalid(format!(
                "{flag} {text}: the pipeline has several {what}s; write {flag} NAME=FILE, where NAME is one of {known}"
            )))
        }
    }
}

/// Whether a flag reads like `NAME=FILE`.
fn begins_with_a_name(text: &str) -> bool {
    let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    text.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('.') && name.bytes().all(of_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = "
job: j
version: 1
sources:
  - {name: a, log: a, timestamp_field: t, watermark: {strategy: ascending}}
  - {name: b, log: b, timestamp_field: t, watermark: {strategy: ascending}}
operators:
  - name: pairs
    join:
      type: interval
      left: {input: a, key_by: [k]}
      right: {input: b, key_by: [k]}
      lower: 0s
      upper: 1s
      select: {x: left.x, y: right.y}
sinks:
  - {name: one, input: pairs, type: log, log: out}
  - {name: two, input: pairs, type: log, log: more}
";

    fn graph() -> Pipeline {
        tidegate_pipeline::parse(GRAPH).expect("a graph").pipeline
    }

    fn texts(flags: &[&str]) -> Vec<String> {
        flags.iter().map(|flag| (*flag).to_owned()).collect()
    }

    #[test]
    fn each_source_has_its_files_and_counts_them() {
        let files = inputs(&graph(), &texts(&["b=1.ndjson", "a=2.ndjson", "b=3.ndjson"])).expect("named");
        assert_eq!(files.iter().map(|file| file.source).collect::<Vec<_>>(), [1, 0, 1]);
        let names = partition_names(&files, &[Value::Int(0), Value::Int(1), Value::Int(2)]);
        assert_eq!(names, [(1, Value::Int(0)), (0, Value::Int(0)), (1, Value::Int(1))]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = |result: Result<(), Failure>| result.expect_err("refused").message.expect("it says why");
        let input = |flags: &[&str]| refused(inputs(&graph(), &texts(flags)).map(|_| ()));
        assert!(input(&["a=x"]).contains("add --input b=FILE"));
        assert!(input(&["x"]).contains("one of `a`, `b`"));
        let output = |flags: &[&str]| refused(outputs(&graph(), &texts(flags)).map(|_| ()));
        assert!(output(&["one=x"]).contains("add --output two=FILE"));
        assert!(output(&["one=x", "one=y", "two=z"]).contains("keep one"));
        assert!(output(&[]).contains("add --output one=FILE"));
        let one = GRAPH.replace("  - {name: two, input: pairs, type: log, log: more}\n", "");
        let one = tidegate_pipeline::parse(&one).expect("a graph").pipeline;
        let said = refused(outputs(&one, &texts(&["zz=o"])).map(|_| ()));
        assert!(said.contains("is called `one`") && said.contains("./zz=o"), "{said}");
        assert_eq!(outputs(&one, &texts(&["./zz=o"])), Ok(vec![Output::from_flag("./zz=o")]));
    }
}
