//! The list of a snapshot's files, which is one of them: what must be there before anything is opened.
//!
//! RocksDB reads a list of its own (the manifest) up to where it was cut, without a word; and a file that is missing
//! shows when it is read. So a snapshot has this text, a stored format:
//!
//! ```text
//! tidegate state snapshot 1
//! table 000012.sst 34567
//! own CURRENT 16 99aa06d3014798d86001c324468d497f
//! end 61b2fc7b9c5f1f0d5ab2f6d2a3b7c8e1
//! ```
//!
//! A table's blocks have checksums, so only its length stands here; the others' XXH3-128 does, and at the end that of all
//! lines before.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use tidegate_state::{StateError, StateFile};
use xxhash_rust::xxh3::xxh3_128;

/// The file's name.
pub(crate) const NAME: &str = "FILES";
const FIRST_LINE: &str = "tidegate state snapshot 1";

/// A file of a snapshot, other than the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Of a file that is no table.
    pub(crate) checksum: Option<u128>,
}

/// Keeps of a new snapshot's folder what opening needs, writes the list, and gives all files.
pub(crate) fn write(folder: &Path) -> Result<Vec<StateFile>, StateError> {
    let io = |error| StateError::io(folder, "list the snapshot's files", error);
    let mut listed = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".sst") {
            listed.push(Listed { name, bytes: entry.metadata().map_err(io)?.len(), checksum: None });
        } else if name == "CURRENT" || name.starts_with("MANIFEST-") {
            let content = fs::read(&path).map_err(|error| StateError::io(&path, "read it", error))?;
            listed.push(Listed { name, bytes: content.len() as u64, checksum: Some(xxh3_128(&content)) });
        } else {
            // An empty write-ahead log, and the options, which are ours.
            fs::remove_file(&path).map_err(|error| StateError::io(&path, "remove it", error))?;
        }
    }
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    let text = text_of(&listed);
    let path = folder.join(NAME);
    let written = File::create_new(&path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        File::open(folder)?.sync_all()
    });
    written.map_err(|error| StateError::io(&path, "write the list of files", error))?;
    let file = |listed: Listed| StateFile { shared: listed.checksum.is_none(), name: listed.name, bytes: listed.bytes };
    let list = StateFile { name: NAME.into(), bytes: text.len() as u64, shared: false };
    Ok(listed.into_iter().map(file).chain([list]).collect())
}

/// Reads the list of a snapshot and checks that all files are there as it says.
pub(crate) fn check(folder: &Path) -> Result<Vec<Listed>, StateError> {
    let path = folder.join(NAME);
    let text = fs::read_to_string(&path).map_err(|error| StateError::io(&path, "read the list of files", error))?;
    let listed = parse(&text).ok_or_else(|| corrupt(&path, "it is no list of files of this version"))?;
    for file in &listed {
        let path = folder.join(&file.name);
        let metadata = fs::metadata(&path).map_err(|error| StateError::io(&path, "find the file", error))?;
        if metadata.len() != file.bytes {
            return Err(corrupt(&path, format!("it has {} bytes, not {}", metadata.len(), file.bytes)));
        }
        if let Some(checksum) = file.checksum {
            let content = fs::read(&path).map_err(|error| StateError::io(&path, "read it", error))?;
            if xxh3_128(&content) != checksum {
                return Err(corrupt(&path, "its checksum is another"));
            }
        }
    }
    Ok(listed)
}

fn corrupt(path: &Path, reason: impl Into<String>) -> StateError {
    StateError::Corrupt { path: path.to_owned(), reason: reason.into() }
}

fn text_of(listed: &[Listed]) -> String {
    let line = |Listed { name, bytes, checksum }: &Listed| match checksum {
        None => format!("table {name} {bytes}\n"),
        Some(checksum) => format!("own {name} {bytes} {checksum:032x}\n"),
    };
    let lines: String = listed.iter().map(line).collect();
    let text = format!("{FIRST_LINE}\n{lines}");
    let checksum = xxh3_128(text.as_bytes());
    format!("{text}end {checksum:032x}\n")
}

fn parse(text: &str) -> Option<Vec<Listed>> {
    let lines = text.strip_prefix(FIRST_LINE)?.strip_prefix('\n')?.lines();
    let file = |line: &str| {
        let mut words = line.split(' ');
        let (kind, name, bytes) = (words.next()?, words.next()?, words.next()?.parse().ok()?);
        let checksum = match kind {
            "table" => None,
            "own" => Some(u128::from_str_radix(words.next()?, 16).ok()?),
            _ => return None,
        };
        // A name leads nowhere else.
        (!name.contains('/')).then(|| Listed { name: name.to_owned(), bytes, checksum })
    };
    let listed = lines.take_while(|line| !line.starts_with("end ")).map(file).collect::<Option<Vec<_>>>()?;
    // Written again it is the same text, so the checksum is right and nothing else stands there.
    (text_of(&listed) == text).then_some(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_back_and_no_byte_of_it_may_change() {
        let listed = vec![
            Listed { name: "000012.sst".into(), bytes: 34_567, checksum: None },
            Listed { name: "CURRENT".into(), bytes: 16, checksum: Some(7) },
        ];
        let text = text_of(&listed);
        assert!(text.starts_with("tidegate state snapshot 1\ntable 000012.sst 34567\nown CURRENT 16 0000"), "{text}");
        assert_eq!(parse(&text), Some(listed));
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 1;
            assert_eq!(parse(&String::from_utf8(bytes).unwrap()), None, "byte {place}");
            assert_eq!(parse(&text[..place]), None, "cut at {place}");
        }
    }
}
