//! Puts a deployed job together: components loaded, hooks opened, inputs and outputs opened.
//!
//! Everything here blocks, and runs on a thread that may. `check` goes the same way as `build` and stops before anything is
//! made, so that what a submission accepts can start.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use tidegate_connectors::{LogSource, Source, SourcePosition, Start, StopFlag};
use tidegate_coordinator::{ResolvedComponent, StartError, StartJob};
use tidegate_dataflow::{Job, JobOptions, SourcePartition};
use tidegate_log::{StreamId, StreamInfo};
use tidegate_pipeline::{NamedHook, Pipeline};
use tidegate_registry::{Artifact, Fetched, GrantedLimits};
use tidegate_sandbox::{Component, ComponentDigest, OpenOptions};
use tidegate_tenancy::TenantLimits;
use tidegate_types::Value;
use tidegate_worker::JobRun;

use super::RunnerParts;
use super::guest_log::JobLog;
use super::keeping::{hold_beginning, holder};
use super::outputs::Opening;
use super::reasons::{invalid, lost, not_opened, output_refused, stream_refused};
use super::standing::{Begins, Standing, Watching};
use super::tenants::TenantHost;
use crate::cli::MAX_PARALLELISM;
use crate::hooks::{self, Opener};

/// The most rows of a batch, as `tidegate run` has it.
const BATCH_ROWS: usize = 1024;

/// An artifact of the job, without the component's bytes, which nobody needs here.
pub(super) struct Image {
    /// Where the pipeline names it.
    pub(super) paths: Vec<String>,
    pub(super) artifact: Artifact,
    bytes: Bytes,
    granted: GrantedLimits,
}

impl Image {
    /// Of what the registry gave, named nowhere yet.
    pub(super) fn new(fetched: Fetched) -> Self {
        let Fetched { artifact, image, granted, .. } = fetched;
        Self { paths: Vec::new(), artifact, bytes: image, granted }
    }

    /// Whether it is what this component names.
    pub(super) fn is(&self, component: &ResolvedComponent) -> bool {
        self.artifact.name == component.name && self.artifact.version == component.version
    }
}

/// A job and what it is put together of.
pub(super) struct Assembly {
    pub(super) parts: Arc<RunnerParts>,
    pub(super) job: StartJob,
    pub(super) limits: TenantLimits,
    pub(super) images: Vec<Image>,
    pub(super) host: Arc<TenantHost>,
    /// Becomes true when the job's run ends early: its hooks are called no more.
    pub(super) no_more_calls: Arc<AtomicBool>,
}

/// A component that was loaded, and the fuel that a call of it is granted.
struct Loaded {
    component: Component,
    call_fuel: u64,
    written: String,
}

impl Assembly {
    /// Whether the job could be started. Makes nothing.
    pub(super) fn check(&self) -> Result<(), StartError> {
        let inputs = self.inputs()?;
        let job = self.operators(1, partitions(&inputs))?;
        self.opening(&inputs, &job).check()
    }

    /// Opens everything.
    pub(super) fn build(self) -> Result<Built, StartError> {
        let inputs = self.inputs()?;
        let parallelism = self.pipeline().parallelism.unwrap_or(1).min(MAX_PARALLELISM);
        let mut job = self.operators(parallelism, partitions(&inputs))?;
        let kept = self.parts.keeping.restore(&self.job, &mut job, &*self.parts.clock)?;
        let mut outputs = self.opening(&inputs, &job).open()?;
        // Before anything is read: what the checkpoint has of them counts, and nothing else of earlier starts.
        outputs.recover(&kept.restored.prepared).map_err(|error| output_refused(&error))?;
        let mut begins = Begins {
            parallelism,
            form: self.pipeline().form,
            positions: None,
            state: self.host.states.job(&self.job.key),
            account: kept.restored.account,
            board: Arc::clone(&kept.board),
        };
        if kept.restored.finished {
            return Ok(Built::Finished(Standing::new(begins)));
        }
        if kept.restored.position.is_none() {
            let held = hold_beginning(&*self.parts.log, &holder(&self.job.key), &inputs);
            held.map_err(|error| stream_refused(&self.pipeline().source_path(0), &error))?;
        }
        let stop = Arc::new(StopFlag::new());
        let source = self.source(&inputs, kept.restored.position.as_ref(), Arc::clone(&stop))?;
        begins.positions = Some(source.positions());
        let standing = Standing::new(begins);
        let observer = Some(Box::new(Watching(Arc::clone(&standing))) as _);
        // Both at once: the source wakes, and a search for a guilty record ends with the call that is under way.
        let no_more_calls = Arc::clone(&self.no_more_calls);
        let end = move || {
            no_more_calls.store(true, Ordering::Relaxed);
            stop.stop();
        };
        let wake = Some(Arc::new(end) as _);
        let (log, clock) = (Arc::clone(&self.parts.log), Arc::clone(&self.parts.clock));
        let checkpoints = Some(kept.checkpointing(self.pipeline(), holder(&self.job.key), log, clock));
        let run = JobRun { job, source: Box::new(source), wake, outputs, observer, checkpoints };
        Ok(Built::Run(Box::new(run), standing))
    }

    fn pipeline(&self) -> &Pipeline {
        &self.job.pipeline.pipeline
    }

    /// The stream of each source, which must be there.
    fn inputs(&self) -> Result<Vec<StreamInfo>, StartError> {
        let describe = |(path, name): (String, &str)| {
            let name = name.parse().map_err(|error| invalid(&path, error))?;
            let stream = StreamId { tenant: self.job.key.tenant.clone(), name };
            self.parts.log.describe(&stream).map_err(|error| stream_refused(&path, &error))
        };
        self.pipeline().logs_read().into_iter().map(describe).collect()
    }

    /// Reads these streams, in their order.
    fn source(
        &self,
        inputs: &[StreamInfo],
        position: Option<&SourcePosition>,
        stop: Arc<StopFlag>,
    ) -> Result<LogSource, StartError> {
        let (log, streams) = (Arc::clone(&self.parts.log), inputs.iter().map(|input| input.id.clone()));
        let source = match position {
            Some(position) => LogSource::resume(log, streams.collect(), position, stop),
            None => LogSource::of_several(log, streams.map(|stream| (stream, Start::Earliest)).collect(), stop),
        };
        let source = source.map_err(|error| invalid(self.pipeline().source_path(0), error))?;
        // One may have been deleted and made anew, with more partitions or fewer.
        let as_described = source.partitions().iter().eq(partitions(inputs).iter().map(|partition| &partition.name));
        if as_described { Ok(source) } else { Err(lost("an input stream was made anew at this moment")) }
    }

    fn operators(&self, parallelism: u32, partitions: Vec<SourcePartition>) -> Result<Job, StartError> {
        let pipeline = self.pipeline();
        let loaded = self.load()?;
        let opener = JobOpener { assembly: self, loaded: &loaded };
        let options = JobOptions {
            parallelism,
            batch_rows: BATCH_ROWS,
            partitions,
            arrival_field: None,
            wall_clock: Some(self.parts.clock.now()),
        };
        hooks::assemble(pipeline, &opener, options).map_err(|unopened| not_opened(unopened, &self.host))
    }

    /// The components, by where the pipeline names them. One that several hooks name is loaded once.
    fn load(&self) -> Result<BTreeMap<&str, Loaded>, StartError> {
        let mut by_digest: BTreeMap<&str, Component> = BTreeMap::new();
        let mut loaded = BTreeMap::new();
        for image in &self.images {
            let artifact = &image.artifact;
            let written = format!("{}@{}", artifact.name, artifact.version);
            let component = match by_digest.get(artifact.digest.as_str()) {
                Some(component) => component.clone(),
                None => self.load_image(&written, image)?,
            };
            by_digest.insert(&artifact.digest, component.clone());
            for path in &image.paths {
                let (component, written) = (component.clone(), written.clone());
                loaded.insert(path.as_str(), Loaded { component, call_fuel: image.granted.call_fuel, written });
            }
        }
        Ok(loaded)
    }

    fn load_image(&self, written: &str, image: &Image) -> Result<Component, StartError> {
        let digest: ComponentDigest =
            image.artifact.digest.parse().map_err(|_| lost("a component's digest is none"))?;
        let (sandbox, size) = (&self.parts.sandbox, image.artifact.size);
        sandbox.load_image(written, digest, size, &image.bytes, &self.parts.image_key).map_err(|error| {
            tracing::error!(%error, component = written, "an image cannot be loaded");
            lost("a component's image cannot be loaded")
        })
    }

    fn opening<'a>(&'a self, inputs: &'a [StreamInfo], job: &'a Job) -> Opening<'a> {
        Opening {
            parts: &self.parts,
            key: &self.job.key,
            pipeline: self.pipeline(),
            limits: &self.limits,
            inputs,
            results: job.results(),
            restore_epoch: self.job.restore_epoch,
        }
    }
}

/// The partitions of each source, in the order in which they are read, called as in their stream.
/// A job that is put together.
pub(super) enum Built {
    /// It is to run.
    Run(Box<JobRun>, Arc<Standing>),
    /// An earlier start has finished it, and could not tell any more.
    Finished(Arc<Standing>),
}

fn partitions(inputs: &[StreamInfo]) -> Vec<SourcePartition> {
    let of = |(source, input): (usize, &StreamInfo)| {
        (0..input.spec.partitions).map(move |number| SourcePartition { source, name: Value::Int(number.into()) })
    };
    inputs.iter().enumerate().flat_map(of).collect()
}

/// Opens hooks with the tenant's limits.
struct JobOpener<'a> {
    assembly: &'a Assembly,
    loaded: &'a BTreeMap<&'a str, Loaded>,
}

impl JobOpener<'_> {
    fn of(&self, named: &NamedHook<'_>) -> &Loaded {
        self.loaded.get(named.path.as_str()).expect("the coordinator resolves a component for each hook")
    }
}

impl Opener for JobOpener<'_> {
    fn component(&self, named: &NamedHook<'_>) -> &Component {
        &self.of(named).component
    }

    fn options(&self, named: &NamedHook<'_>) -> OpenOptions {
        let loaded = self.of(named);
        let log = JobLog::new(self.assembly.job.key.clone(), named.hook.uid.clone(), loaded.written.clone());
        OpenOptions {
            memory: Some(Arc::clone(&self.assembly.host.memory)),
            call_fuel: Some(loaded.call_fuel),
            stop: Some(Arc::clone(&self.assembly.no_more_calls)),
            ..OpenOptions::new(Arc::new(log))
        }
    }
}
