//! `NAME=FILE` flags of a run: which file serves which component that the pipeline names.

use std::path::PathBuf;

use tidegate_pipeline::ComponentRef;

use crate::failure::Failure;

/// Such a flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) file: PathBuf,
}

impl Given {
    /// Reads `NAME=FILE` or `NAME@VERSION=FILE`. `flag` is what the user wrote before it, `file` what the file should be.
    ///
    /// # Errors
    /// If it is not so.
    pub(super) fn parse(flag: &str, text: &str, file_is: &str) -> Result<Self, Failure> {
        let wrong = || Failure::invalid(format!("{flag} {text}: write NAME={file_is}"));
        let (called, file) = text.split_once('=').ok_or_else(wrong)?;
        let (name, version) = match called.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (called, None),
        };
        if name.is_empty() || version.is_some_and(str::is_empty) || file.is_empty() {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), version: version.map(str::to_owned), file: file.into() })
    }

    pub(super) fn is_for(&self, component: &ComponentRef) -> bool {
        self.name == component.name && (self.version.is_none() || self.version == component.version)
    }

    pub(super) fn written(&self) -> String {
        written(&ComponentRef { name: self.name.clone(), version: self.version.clone() })
    }
}

/// The flag for this component: one with its version goes before one without.
///
/// # Errors
/// If two say as much.
pub(super) fn for_component<'a>(
    flag: &str,
    given: &'a [Given],
    component: &ComponentRef,
) -> Result<Option<&'a Given>, Failure> {
    let of = |exact: bool| -> Vec<&Given> {
        given.iter().filter(|given| given.is_for(component) && given.version.is_some() == exact).collect()
    };
    match (of(true).as_slice(), of(false).as_slice()) {
        ([one], _) | ([], [one]) => Ok(Some(one)),
        ([], []) => Ok(None),
        _ => Err(Failure::invalid(format!("{flag}: `{}` is given more than once; keep one", written(component)))),
    }
}

/// As the pipeline writes it: `name` or `name@version`.
pub(super) fn written(component: &ComponentRef) -> String {
    match &component.version {
        Some(version) => format!("{}@{version}", component.name),
        None => component.name.clone(),
    }
}
