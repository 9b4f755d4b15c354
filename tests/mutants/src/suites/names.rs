//! The names of failed tests and figures, out of what a test run printed.

#[cfg(test)]
mod tests;

/// A failed run that names no test: it crashed or did not end.
const NO_NAME: &str = "the run did not end";

/// The unit tests that failed.
pub(super) fn of_units(output: &Option<String>) -> Vec<String> {
    let Some(text) = output else { return Vec::new() };
    named(failed_tests(text).map(|test| format!("`{}`", last_part(test))).collect())
}

/// The figures that came out differently, otherwise the tests that failed.
pub(super) fn of_figures(output: &Option<String>) -> Vec<String> {
    let Some(text) = output else { return Vec::new() };
    let figures = figures(text);
    if figures.is_empty() { of_units(output) } else { figures }
}

fn named(names: Vec<String>) -> Vec<String> {
    if names.is_empty() { vec![NO_NAME.to_owned()] } else { names }
}

/// `test a::b::name ... FAILED`
fn failed_tests(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"))
}

fn last_part(test: &str) -> &str {
    test.rsplit("::").next().unwrap_or(test)
}

/// For each figure that differs its test prints `engine: ` and its name, then the pipeline, then the difference.
fn figures(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let before_pipelines = lines.windows(2).filter(|pair| pair[1].starts_with("{\"")).map(|pair| pair[0]);
    before_pipelines.filter_map(|line| Some(line.split_once(": ")?.1.to_owned())).collect()
}
