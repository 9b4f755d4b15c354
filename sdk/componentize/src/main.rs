//! `componentize IN OUT [WIT-FOLDER WORLD]...`: the command that builds the guests of our own tests.
//!
//! `IN` is a core module, or its text (`.wat`), to which a world's types are added first (a Rust module brings them along).
//! `OUT` is written only when all is well, and replaced at once, so that a test never sees half a file.

use std::path::Path;
use std::process::ExitCode;

use tidegate_componentize::{componentize, inspect};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        [input, output] => build(Path::new(input), Path::new(output), None),
        [input, output, wit, world] => build(Path::new(input), Path::new(output), Some((Path::new(wit), world))),
        _ => Err("usage: componentize IN OUT [WIT-FOLDER WORLD]".into()),
    };
    match result {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("componentize {}: {error}", arguments.join(" "));
            ExitCode::FAILURE
        }
    }
}

fn build(input: &Path, output: &Path, embed: Option<(&Path, &str)>) -> Result<String, Box<dyn std::error::Error>> {
    let mut core = wat::parse_bytes(&std::fs::read(input)?)?.into_owned();
    if let Some((folder, world)) = embed {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(folder).map_err(|error| format!("{error:#}"))?;
        let world = resolve.select_world(&[package], Some(world)).map_err(|error| format!("{error:#}"))?;
        embed_component_metadata(&mut core, &resolve, world, StringEncoding::UTF8, false)
            .map_err(|error| format!("{error:#}"))?;
    }
    let component = componentize(&core)?;
    let facts = inspect(&component)?;
    let partial = output.with_extension(format!("{}.partial", std::process::id()));
    std::fs::write(&partial, &component)?;
    std::fs::rename(&partial, output)?;
    Ok(format!("{} {} B, hooks: {}", output.display(), facts.size, facts.hooks.join(", ")))
}
