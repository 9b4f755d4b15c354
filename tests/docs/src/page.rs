//! The documents of the repository: its Markdown files.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Folders without documents of ours.
const SKIPPED: [&str; 3] = [".git", "target", "node_modules"];

/// A Markdown file.
#[derive(Debug, Clone)]
pub struct Page {
    /// From the root of the repository.
    pub path: PathBuf,
    pub text: String,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All Markdown files under `root`, in order of path.
///
/// # Errors
/// If a folder or a file cannot be read.
pub fn pages(root: &Path) -> io::Result<Vec<Page>> {
    let mut pages = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                let skipped = path.file_name().is_some_and(|name| SKIPPED.iter().any(|skipped| name == *skipped));
                waiting.extend((!skipped).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path)?;
                pages.push(Page { path: path.strip_prefix(root).unwrap_or(&path).to_owned(), text });
            }
        }
    }
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pages)
}
