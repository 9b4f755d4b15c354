//! What the command line takes, and what it says of what it does not take.

use super::*;

fn run(args: &str) -> Result<RunArgs, String> {
    let args = args.split_whitespace().map(OsString::from);
    match parse(["tidegate".into(), "run".into()].into_iter().chain(args)) {
        Ok(Asked::For(Command::Run(args))) => Ok(*args),
        Ok(_) => panic!("not a run"),
        Err(failure) => {
            assert_eq!(failure.status, 2);
            Err(failure.message.unwrap())
        }
    }
}

#[test]
fn the_definition_is_consistent() {
    Cli::command().debug_assert();
}

#[test]
fn defaults_are_those_of_the_contract() {
    let args = run("p.yaml --input a.ndjson --input -").unwrap();
    assert_eq!(args.input, ["a.ndjson", "-"]);
    assert_eq!((args.batch_rows, args.parallelism), (1024, None));
    assert!(!args.live && !args.allow_unsigned && !args.fresh_instances && args.output.is_empty());
}

#[test]
fn a_wrong_flag_is_one_line() {
    for (args, said) in [
        ("p.yaml", "--input <[NAME=]FILE>"),
        ("p.yaml --input a --batch-rows 0", "1..=65536"),
        ("p.yaml --input a --batch-rows 65537", "1..=65536"),
        ("p.yaml --input a --parallelism 0", "'--parallelism <N>'"),
        ("p.yaml --input a --live-seconds 3", "--live"),
        ("p.yaml --input a --patition-field x", "'--partition-field'"),
        ("p.yaml --input a --too-late b --too-late c", "cannot be used multiple times"),
    ] {
        let message = run(args).unwrap_err();
        assert!(message.contains(said), "{args}: {message}");
        assert!(message.ends_with("(see --help)") && !message.contains("Usage"), "{message}");
    }
}

#[test]
fn help_is_no_failure() {
    for args in
        [vec!["tidegate", "--help"], vec!["tidegate", "run", "--help"], vec!["tidegate", "--version"], vec!["tidegate"]]
    {
        assert!(matches!(parse(args.into_iter().map(OsString::from)), Ok(Asked::ToRead(_))));
    }
}

#[test]
fn help_of_run_shows_a_whole_command() {
    let Ok(Asked::ToRead(help)) = parse(["tidegate", "run", "--help"].map(OsString::from)) else { panic!() };
    let help = help.to_string();
    assert!(help.contains("--component delays=delays.wasm --allow-unsigned"), "{help}");
}
