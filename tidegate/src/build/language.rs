//! Which language a hook's source is in, by the files at the top of its folder.

use std::path::Path;

/// A language that hooks are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Built with cargo.
    Rust,
    /// Will come; its name.
    ToCome(&'static str),
}

/// Files that tell, the surest first: a Rust folder may hold scripts in other languages.
const MARKERS: [(&str, Language); 8] = [
    ("Cargo.toml", Language::Rust),
    ("pyproject.toml", Language::ToCome("Python")),
    ("requirements.txt", Language::ToCome("Python")),
    ("package.json", Language::ToCome("JavaScript")),
    ("go.mod", Language::ToCome("Go")),
    ("CMakeLists.txt", Language::ToCome("C")),
    ("Makefile", Language::ToCome("C")),
    ("Directory.Build.props", Language::ToCome("C#")),
];

/// The language, and the file that told.
pub(super) fn of_folder(folder: &Path) -> Option<(Language, &'static str)> {
    let found = MARKERS.into_iter().find(|(marker, _)| folder.join(marker).is_file());
    found.map(|(marker, language)| (language, marker))
}
