//! The outputs of a run: which flag names which, and that none destroys a file that the run needs or another output.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tidegate_connectors::source::ErrorKind;
use tidegate_connectors::{
    FileResultSink, FileSideSink, Input, OpenOutput, Output, ResultSink, SideSink, SinkError, refuse_overlaps,
};
use tidegate_pipeline::Pipeline;
use tidegate_types::{ResultFields, Stamping};
use tidegate_worker::Outputs;

use super::named;
use super::report::Report;
use crate::cli::RunArgs;
use crate::failure::{Failure, describe};

const OUTPUT: &str = "--output";
const TOO_LATE: &str = "--too-late";
const DEAD_LETTER: &str = "--dead-letter";
const DUPLICATES: &str = "--duplicates";
const REPORT: &str = "--report";

/// Where everything goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destinations {
    /// For each of the pipeline's sinks.
    pub(crate) results: Vec<Output>,
    pub(crate) too_late: Option<Output>,
    pub(crate) dead_letters: Option<Output>,
    pub(crate) duplicates: Option<Output>,
    pub(crate) report: Option<Output>,
}

impl Destinations {
    /// The destinations that the flags name.
    ///
    /// # Errors
    /// If they do not name one for each sink.
    pub(super) fn of(args: &RunArgs, pipeline: &Pipeline) -> Result<Self, Failure> {
        let side = |flag: &Option<String>| flag.as_deref().map(Output::from_flag);
        Ok(Self {
            results: named::outputs(pipeline, &args.output)?,
            too_late: side(&args.too_late),
            dead_letters: side(&args.dead_letter),
            duplicates: side(&args.duplicates),
            report: side(&args.report),
        })
    }

    /// Whether anything goes to standard output.
    pub(super) fn uses_stdout(&self) -> bool {
        let sides = self.sides().into_iter().filter_map(|(_, output)| output);
        sides.chain(&self.results).any(|output| *output == Output::Stdout)
    }

    /// Each output beside the results with its flag.
    fn sides(&self) -> [(&'static str, Option<&Output>); 4] {
        [
            (TOO_LATE, self.too_late.as_ref()),
            (DEAD_LETTER, self.dead_letters.as_ref()),
            (DUPLICATES, self.duplicates.as_ref()),
            (REPORT, self.report.as_ref()),
        ]
    }

    /// Refuses outputs that would mix with results, or destroy an input, another output or one of `needed`.
    ///
    /// # Errors
    /// For the first one found; nothing has been written by then.
    pub(super) fn check(&self, inputs: &[Input], needed: &[(&str, &Path)]) -> Result<(), Failure> {
        let sides = self.sides().into_iter().filter_map(|(flag, output)| Some((flag, output?)));
        let results = self.results.iter().map(|output| (OUTPUT, output));
        let all: Vec<(&'static str, &Output)> = results.chain(sides).collect();
        let to_stdout = |(place, (_, output)): &(usize, &(&str, &Output))| {
            **output == Output::Stdout
                && all[..*place].iter().any(|(flag, other)| *flag == OUTPUT && **other == Output::Stdout)
        };
        if let Some((_, (flag, _))) = all.iter().enumerate().find(to_stdout) {
            return Err(Failure::invalid(format!(
                "{flag} -: panes go to standard output and must not be mixed with anything; name a file here or for --output"
            )));
        }
        refuse_overlaps(inputs, &all).map_err(|error| failed(&error))?;
        for (flag, output) in all {
            let Output::File(path) = output else { continue };
            let Ok(path) = path.canonicalize() else { continue };
            let same = |other: &Path| other.canonicalize().is_ok_and(|other| other == path && other.is_file());
            if let Some((what, _)) = needed.iter().find(|(_, other)| same(other)) {
                let name = output.name();
                return Err(Failure::invalid(format!("{flag} {name}: is also {what}; writing would destroy it")));
            }
        }
        Ok(())
    }

    /// Opens the outputs and leaves what is in them.
    ///
    /// # Errors
    /// If a file cannot be made or written to; none has changed then.
    pub(super) fn open(&self) -> Result<OpenDestinations, Failure> {
        let open = |flag, output: &Output| output.open(flag).map_err(|error| failed(&error));
        let side = |flag, output: &Option<Output>| output.as_ref().map(|output| open(flag, output)).transpose();
        Ok(OpenDestinations {
            results: self.results.iter().map(|output| open(OUTPUT, output)).collect::<Result<_, _>>()?,
            too_late: side(TOO_LATE, &self.too_late)?,
            dead_letters: side(DEAD_LETTER, &self.dead_letters)?,
            duplicates: side(DUPLICATES, &self.duplicates)?,
            report: side(REPORT, &self.report)?,
        })
    }
}

/// Where everything goes, all of which can be written to.
pub(super) struct OpenDestinations {
    results: Vec<OpenOutput>,
    too_late: Option<OpenOutput>,
    dead_letters: Option<OpenOutput>,
    duplicates: Option<OpenOutput>,
    report: Option<OpenOutput>,
}

impl OpenDestinations {
    /// Empties the outputs for a run: those of its records, and the one of its report.
    ///
    /// # Errors
    /// If that fails.
    pub(super) fn begin(
        self,
        pipeline: &Pipeline,
        fields: &[ResultFields],
    ) -> Result<(Outputs, Option<ReportFile>), Failure> {
        let begin = || -> Result<_, SinkError> {
            let results = self.results.into_iter().zip(fields).zip(&pipeline.sinks).map(|((output, fields), sink)| {
                let stamping = Stamping { stamp: sink.stamp, precedence: pipeline.precedence, restore_epoch: 0 };
                let sink: Box<dyn ResultSink> = Box::new(FileResultSink::begin(output, fields, stamping)?);
                Ok(sink)
            });
            let outputs = Outputs {
                results: results.collect::<Result<_, SinkError>>()?,
                too_late: side(self.too_late)?,
                duplicates: side(self.duplicates)?,
                dead_letters: side(self.dead_letters)?,
            };
            let report = self.report.map(|output| {
                let name = output.name().to_owned();
                output.begin().map(|to| ReportFile { name, to })
            });
            Ok((outputs, report.transpose()?))
        };
        begin().map_err(|error| failed(&error))
    }
}

fn side(output: Option<OpenOutput>) -> Result<Option<Box<dyn SideSink>>, SinkError> {
    let Some(output) = output else { return Ok(None) };
    Ok(Some(Box::new(FileSideSink::begin(output)?)))
}

/// Where the report of a run goes.
pub(super) struct ReportFile {
    name: String,
    to: Box<dyn Write + Send>,
}

impl ReportFile {
    /// Writes the report, on one line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(mut self, report: &Report) -> Result<(), Failure> {
        let line = report.line();
        let written = self.to.write_all(line.as_bytes()).and_then(|()| self.to.flush());
        written.map_err(|source| match source.kind() {
            io::ErrorKind::BrokenPipe => failed(&SinkError::Closed { output: self.name }),
            _ => failed(&SinkError::Write { output: self.name, source }),
        })
    }
}

/// The files that a run reads besides its inputs.
pub(super) fn needed<'a>(
    pipeline: &'a Path,
    components: impl Iterator<Item = &'a PathBuf>,
) -> Vec<(&'static str, &'a Path)> {
    let components = components.map(|file| ("a component's file", file.as_path()));
    [("the pipeline file", pipeline)].into_iter().chain(components).collect()
}

fn failed(error: &SinkError) -> Failure {
    match error.kind() {
        ErrorKind::Invalid => Failure::invalid(describe(error)),
        ErrorKind::External if error.is_closed() => Failure::silent(),
        ErrorKind::External => Failure::external(describe(error)),
    }
}

#[cfg(test)]
mod tests;
