//! `tidegate build`: a component of the source folder of a hook.
//!
//! It finds the language by the folder's files and the toolchain on the machine, builds a core module with the language's own tools, turns
//! that into a component, and refuses what Tidegate would refuse: an import outside the job contract, or no hook at all. What is
//! missing is said with the command that gets it. The component is written only when all is well.

mod language;
mod report;
mod rust;
mod toolchain;

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use thiserror::Error;
use tidegate_componentize::{ComponentError, Facts, componentize, inspect};

use crate::failure::Failure;
use language::Language;
use toolchain::Choice;

const BUILD_EXAMPLES: &str = "\
Examples:
  tidegate build my-hook
  tidegate run pipeline.yaml --input events.ndjson --component my-hook=my-hook/target/tidegate/my-hook.wasm --allow-unsigned

The folder of a Rust hook has a Cargo.toml with crate-type = [\"cdylib\"] and the dependency tidegate-sdk.
Exit status: 0 the component was written; 1 the compiler or the machine failed; 2 the folder or a flag is wrong.";

/// The arguments of `tidegate build`.
#[derive(Args, Clone, Debug)]
#[command(after_help = BUILD_EXAMPLES)]
pub(crate) struct BuildArgs {
    /// The folder of the hook's source
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,

    /// Where to write the component [default: FOLDER/target/tidegate/NAME.wasm]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// The package to build, where the folder has several
    #[arg(long, short, value_name = "NAME")]
    pub(crate) package: Option<String>,

    /// Which Rust to build with
    #[arg(long, value_enum, default_value_t = Choice::Any)]
    pub(crate) toolchain: Choice,

    /// A folder for the compiler's intermediate files [default: the language's own]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) target_dir: Option<PathBuf>,

    /// Fail instead of changing the lock file
    #[arg(long)]
    pub(crate) locked: bool,
}

/// A component that was built.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    /// Where it was written.
    pub(crate) path: PathBuf,
    /// The package's name.
    pub(crate) name: String,
    /// Which toolchain made it.
    pub(crate) toolchain: String,
    /// What is in it.
    pub(crate) facts: Facts,
}

/// Why there is no component.
#[derive(Debug, Error)]
pub(crate) enum BuildError {
    /// The path is no folder.
    #[error("{}: not a folder; name the folder of the hook's source (the one with Cargo.toml)", .0.display())]
    NoFolder(PathBuf),

    /// Nothing there says which language it is.
    #[error("{}: no source of a hook found; a Rust hook has a Cargo.toml there", .0.display())]
    NoLanguage(PathBuf),

    /// A language that is not there yet.
    #[error("{}: hooks in {language} cannot be built yet ({marker} found); Rust can", folder.display())]
    LanguageToCome {
        /// The folder.
        folder: PathBuf,
        /// The language.
        language: &'static str,
        /// The file that told.
        marker: &'static str,
    },

    /// Nothing on the machine compiles to WebAssembly.
    #[error("no Rust that compiles for WebAssembly: {0}")]
    NoToolchain(String),

    /// The compiler could not be started.
    #[error("cannot run {}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },

    /// The compiler refused the source; it has said why.
    #[error("cargo could not build {} (its messages are above)", .0.display())]
    Compile(PathBuf),

    /// A library that is no component, or none.
    #[error("{}: cargo built no WebAssembly library; put `[lib]` and `crate-type = [\"cdylib\", \"rlib\"]` into Cargo.toml", .0.display())]
    NoLibrary(PathBuf),

    /// More than one package makes a component.
    #[error("{}: several components ({names}); choose one with --package", folder.display())]
    Several {
        /// The folder.
        folder: PathBuf,
        /// The packages.
        names: String,
    },

    /// The module makes no component of the contract.
    #[error("{name}: {source}")]
    Component {
        /// The package.
        name: String,
        /// Why.
        source: ComponentError,
    },

    /// A file could not be read or written.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl BuildError {
    /// Whether the user can mend it in the folder or on the command line.
    fn is_the_users(&self) -> bool {
        !matches!(self, Self::Start { .. } | Self::Compile(_) | Self::File { .. } | Self::NoToolchain(_))
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        let message = match (&error, std::error::Error::source(&error)) {
            (BuildError::Start { .. } | BuildError::File { .. }, Some(cause)) => format!("{error}: {cause}"),
            _ => error.to_string(),
        };
        if error.is_the_users() { Self::invalid(message) } else { Self::external(message) }
    }
}

/// Builds the component and says on standard output what is in it.
///
/// # Errors
/// See [`BuildError`]; nothing is written then.
pub(crate) fn run(args: &BuildArgs) -> Result<(), BuildError> {
    let built = build(args)?;
    let mut out = io::stdout().lock();
    report::write(&mut out, &built).map_err(|source| BuildError::File { path: "standard output".into(), source })
}

/// Builds the component.
///
/// # Errors
/// See [`BuildError`]; nothing is written then.
pub(crate) fn build(args: &BuildArgs) -> Result<Built, BuildError> {
    if !args.folder.is_dir() {
        return Err(BuildError::NoFolder(args.folder.clone()));
    }
    match language::of_folder(&args.folder) {
        Some((Language::Rust, _)) => build_rust(args),
        Some((Language::ToCome(language), marker)) => {
            Err(BuildError::LanguageToCome { folder: args.folder.clone(), language, marker })
        }
        None => Err(BuildError::NoLanguage(args.folder.clone())),
    }
}

fn build_rust(args: &BuildArgs) -> Result<Built, BuildError> {
    let toolchain = toolchain::find(&args.folder, args.toolchain)?;
    let module = rust::compile(args, &toolchain)?;
    let core = std::fs::read(&module.path).map_err(|source| BuildError::File { path: module.path.clone(), source })?;
    let refused = |source| BuildError::Component { name: module.name.clone(), source };
    let component = componentize(&core).map_err(refused)?;
    let facts = inspect(&component).map_err(refused)?;
    let default = || args.folder.join("target/tidegate").join(format!("{}.wasm", module.name));
    let path = args.output.clone().unwrap_or_else(default);
    write_whole(&path, &component)?;
    Ok(Built { path, name: module.name, toolchain: toolchain.name, facts })
}

/// Writes a file so that nobody ever sees half of it.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    let failed = |source| BuildError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path)).map_err(failed)
}

#[cfg(test)]
mod tests;
