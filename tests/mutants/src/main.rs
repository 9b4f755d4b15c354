//! `make mutants`: plants each fault, runs the suites, writes the table of docs/testing.md.
//!
//! `tidegate-mutants [--rev REVISION] [--list] [NAME…]`: only the named faults; of a commit in place of the working tree.
//! The copy lies in `~/.cache/tidegate/mutants`. Ends with status 1 if a fault survives, does not fit or does not compile.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use tidegate_mutants::{Fault, Row, Suites, Tree, all, merged, read, replaced};

type Failure = Box<dyn std::error::Error>;

/// The command line.
#[derive(Debug, Default)]
struct Options {
    revision: Option<String>,
    list: bool,
    only: Vec<String>,
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("mutants: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Failure> {
    let options = options(env::args().skip(1))?;
    let faults = chosen(&options.only)?;
    if options.list {
        for fault in faults {
            println!("{:32} {:5} {}", fault.name, fault.section, fault.breaks);
        }
        return Ok(true);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (cache, dependencies) = folders()?;
    fs::create_dir_all(cache.join("tree"))?;
    let mut tree = Tree::sync(&root, &cache, options.revision.as_deref())?;
    let suites = Suites::new(tree.folder(), &cache, &dependencies)?;
    eprintln!("mutants: the tree without a fault, in {}", tree.folder().display());
    let healthy = suites.run(None)?;
    if healthy.is_caught() {
        return Err(format!("the suites fail without any fault: {healthy:?}").into());
    }
    let mut wrong = Vec::new();
    for fault in &faults {
        match judge(fault, &mut tree, &suites) {
            Ok(row) => {
                println!("{:32} {}", fault.name, row.cells.join(" | "));
                write(&root, row)?;
            }
            Err(failure) => {
                println!("{:32} {failure}", fault.name);
                wrong.push(format!("fault `{}` {failure}", fault.name));
            }
        }
    }
    tree.restore()?;
    eprintln!("mutants: {} of {} faults were found", faults.len() - wrong.len(), faults.len());
    wrong.iter().for_each(|line| eprintln!("mutants: {line}"));
    Ok(wrong.is_empty())
}

/// Plants a fault and runs the suites: its row, or why there is none.
fn judge(fault: &Fault, tree: &mut Tree, suites: &Suites) -> Result<Row, Failure> {
    tree.plant(fault)?;
    let caught = suites.run(Some(fault.section))?;
    if caught.is_caught() {
        Ok(Row::new(fault, &caught))
    } else {
        Err(format!("SURVIVES: no test finds that {}", fault.breaks).into())
    }
}

/// Writes a row into the table at once, so that a run that is stopped leaves what it found.
fn write(root: &Path, row: Row) -> Result<(), Failure> {
    let path = root.join("docs/testing.md");
    let page = fs::read_to_string(&path)?;
    let rows = merged(&all(), &read(&page)?, &[row]);
    fs::write(path, replaced(&page, &rows)?)?;
    Ok(())
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, Failure> {
    let mut options = Options::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rev" => options.revision = Some(words.next().ok_or("--rev needs a revision")?),
            "--list" => options.list = true,
            name if name.starts_with('-') => return Err(format!("unknown option {name}").into()),
            name => options.only.push(name.to_owned()),
        }
    }
    Ok(options)
}

fn chosen(only: &[String]) -> Result<Vec<Fault>, Failure> {
    let faults = all();
    if let Some(unknown) = only.iter().find(|name| faults.iter().all(|fault| fault.name != **name)) {
        return Err(format!("there is no fault `{unknown}`; see `make mutants ONLY=--list`").into());
    }
    Ok(faults.into_iter().filter(|fault| only.is_empty() || only.iter().any(|name| name == fault.name)).collect())
}

/// The folder of the copy, and the user's target folder.
#[allow(clippy::disallowed_methods, reason = "where a developer's caches lie comes from the environment")]
fn folders() -> Result<(PathBuf, PathBuf), Failure> {
    let home = PathBuf::from(env::var_os("HOME").ok_or("HOME is not set")?);
    let caches = home.join(".cache/tidegate");
    let dependencies = env::var_os("CARGO_TARGET_DIR").map_or_else(|| caches.join("target"), PathBuf::from);
    Ok((caches.join("mutants"), dependencies))
}
