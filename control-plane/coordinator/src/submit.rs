//! A submission: from the text of a pipeline to a job that is written down and ready to run.
//!
//! Everything that can be wrong is found before anything is written: the text, the names, the version, the components, and
//! what only the runner knows (the input stream, the sink, the hooks). What refuses says the field and its line.

use std::sync::Arc;

use tidegate_pipeline::{ComponentRef, NamedHook, Parsed, PipelineError, parse};
use tidegate_types::{Name, TenantId};

use crate::components::Components;
use crate::error::SubmitError;
use crate::runner::{ResolvedComponent, StartError};
use crate::streams::check_names;

/// Reads a pipeline and checks what can be checked without asking anybody. Gives the job's name.
pub(crate) fn read(text: &str) -> Result<(Parsed, Name), SubmitError> {
    let parsed = parse(text).map_err(refused)?;
    parsed.check_supported().map_err(refused)?;
    let name = check_names(&parsed.pipeline).map_err(|error| wrong(&parsed, &error.path, error.reason))?;
    Ok((parsed, name))
}

fn refused(error: PipelineError) -> SubmitError {
    let PipelineError { path, line, reason, .. } = error;
    SubmitError::InvalidPipeline { path, line, reason }
}

fn wrong(parsed: &Parsed, path: &str, reason: String) -> SubmitError {
    SubmitError::InvalidPipeline { path: path.to_owned(), line: parsed.line_of(path), reason }
}

/// What the runner refuses, with the line.
pub(crate) fn not_startable(parsed: &Parsed, error: StartError) -> SubmitError {
    match error {
        StartError::Invalid { path, reason } => wrong(parsed, &path, reason),
        StartError::Platform { reason } => SubmitError::Unavailable { reason },
    }
}

/// Finds the component of each hook in the tenant's registry.
pub(crate) async fn resolve(
    components: &Arc<dyn Components>,
    tenant: &TenantId,
    parsed: &Parsed,
) -> Result<Vec<ResolvedComponent>, SubmitError> {
    let mut resolved = Vec::new();
    for NamedHook { path, hook, .. } in parsed.pipeline.hooks() {
        let ComponentRef { name, version } = &hook.component;
        let found = components.find(tenant, name, version.as_deref()).await;
        let found = found.map_err(|error| {
            tracing::error!(%tenant, name, reason = error.reason, "a component cannot be looked up");
            SubmitError::Unavailable { reason: error.to_string() }
        })?;
        match found {
            Some(found) if !found.revoked => {
                let (version, digest) = (found.version, found.digest);
                resolved.push(ResolvedComponent { path, name: name.clone(), version, digest });
            }
            found => return Err(unknown(parsed, &path, &hook.component, found.is_some())),
        }
    }
    Ok(resolved)
}

fn unknown(parsed: &Parsed, path: &str, component: &ComponentRef, revoked: bool) -> SubmitError {
    let written = match &component.version {
        Some(version) => format!("{}@{version}", component.name),
        None => component.name.clone(),
    };
    let reason = if revoked {
        format!("the component `{written}` was revoked; upload a newer version and name that one")
    } else {
        format!("the tenant has no component `{written}`; upload it first, or name one that is there")
    };
    let path = format!("{path}.component");
    SubmitError::UnknownComponent { line: parsed.line_of(&path), path, component: written, reason }
}
