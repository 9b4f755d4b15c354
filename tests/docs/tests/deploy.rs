//! What `deploy/` asks of the command and of the repository is so: flags, paths, folders, versions.
//!
//! The unit and the container are not started here (a test has no service manager and no container engine); every word in them
//! that another part of the repository decides is held against that part.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use serde_json::Value;
use tidegate_conformance::run::Binary;
use tidegate_docs::root;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The help of a subcommand.
fn help(subcommand: &str) -> String {
    let binary = Binary::find(None).expect("the command is built");
    let done = Command::new(binary.path()).args([subcommand, "--help"]).output().expect("the command runs");
    assert!(done.status.success(), "`tidegate {subcommand}` is no command");
    String::from_utf8(done.stdout).expect("help is text")
}

/// A command line of `deploy/`: the subcommand is one, and it knows each flag.
fn assert_known(words: &[&str]) {
    let [subcommand, rest @ ..] = words else { panic!("no subcommand") };
    let help = help(subcommand);
    for flag in rest.iter().filter(|word| word.starts_with("--")) {
        let known = help.split_whitespace().any(|word| word == *flag);
        assert!(known, "`tidegate {subcommand}` knows no {flag}");
    }
}

/// The value after a flag.
fn value<'a>(words: &[&'a str], flag: &str) -> &'a str {
    let at = words.iter().position(|word| *word == flag).unwrap_or_else(|| panic!("no {flag} in {words:?}"));
    words[at + 1]
}

/// The unit's settings, by section and key; a key that stands several times has several values.
fn unit() -> BTreeMap<(String, String), Vec<String>> {
    let text = read("deploy/tidegate.service");
    let mut section = String::new();
    let mut settings: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else {
            let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("no setting: {line}"));
            settings.entry((section.clone(), key.to_owned())).or_default().push(value.to_owned());
        }
    }
    settings
}

fn one(unit: &BTreeMap<(String, String), Vec<String>>, key: &str) -> String {
    match unit.get(&("Service".to_owned(), key.to_owned())).map(Vec::as_slice) {
        Some([value]) => value.clone(),
        other => panic!("[Service] {key}: {other:?}"),
    }
}

#[test]
fn the_unit_asks_the_command_for_what_it_knows() {
    let unit = unit();
    let start = one(&unit, "ExecStart");
    let words: Vec<&str> = start.split_whitespace().collect();
    assert_eq!(words[0], "/usr/local/bin/tidegate");
    assert_known(&words[1..]);
    assert_eq!(value(&words, "--data"), format!("%S/{}", one(&unit, "StateDirectory")));
    assert_eq!(value(&words, "--listen"), "127.0.0.1:7400");
    assert!(help("dev").contains("127.0.0.1:7400"), "it is the command's own default");
}

#[test]
fn the_unit_is_hardened() {
    let unit = unit();
    for key in ["NoNewPrivileges", "DynamicUser", "PrivateTmp", "PrivateDevices", "PrivateUsers", "ProtectHome"] {
        assert_eq!(one(&unit, key), "yes", "{key}");
    }
    for key in ["ProtectKernelTunables", "ProtectKernelModules", "ProtectControlGroups", "RestrictNamespaces"] {
        assert_eq!(one(&unit, key), "yes", "{key}");
    }
    for (key, expected) in [
        ("ProtectSystem", "strict"),
        ("CapabilityBoundingSet", ""),
        ("StateDirectoryMode", "0700"),
        ("UMask", "0077"),
        ("Restart", "on-failure"),
        ("RestartPreventExitStatus", "2"),
        ("LimitCORE", "0"),
    ] {
        assert_eq!(one(&unit, key), expected, "{key}");
    }
    for key in ["LimitNOFILE", "TasksMax", "TimeoutStopSec"] {
        assert!(one(&unit, key).parse::<u32>().is_ok_and(|number| number > 0), "{key}");
    }
    let jit = ("Service".to_owned(), "MemoryDenyWriteExecute".to_owned());
    assert!(!unit.contains_key(&jit), "components are compiled to machine code: none would load");
}

/// The instructions of the container file, in order: (`RUN`, the rest), continued lines joined.
fn instructions() -> Vec<(String, String)> {
    let text = read("deploy/Containerfile").replace("\\\n", " ");
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, rest) = line.split_once(' ').unwrap_or_else(|| panic!("no instruction: {line}"));
            (name.to_owned(), rest.split_whitespace().collect::<Vec<_>>().join(" "))
        })
        .collect()
}

fn all<'a>(instructions: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    instructions.iter().filter(|(found, _)| found == name).map(|(_, rest)| rest.as_str()).collect()
}

fn words(list: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(list).unwrap_or_else(|error| panic!("{list}: {error}"));
    list.as_array().expect("a list").iter().map(|word| word.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn the_container_asks_the_command_for_what_it_knows() {
    let instructions = instructions();
    let command = words(all(&instructions, "CMD")[0]);
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    assert_known(&command);
    assert_eq!(value(&command, "--listen"), "0.0.0.0:7400");
    assert!(command.contains(&"--tls-cert"), "beyond loopback the command refuses to listen without TLS");
    assert_eq!(all(&instructions, "ENTRYPOINT"), ["[\"/usr/local/bin/tidegate\"]"]);
    let health = all(&instructions, "HEALTHCHECK")[0];
    let health = words(&health[health.find('[').expect("a list")..]);
    let health: Vec<&str> = health.iter().map(String::as_str).collect();
    assert_eq!(health[0], "/usr/local/bin/tidegate");
    assert_known(&health[1..]);
    for of in [&command[..], &health[..]] {
        assert_eq!([value(of, "--data")], all(&instructions, "VOLUME")[..]);
    }
    assert_eq!(all(&instructions, "EXPOSE"), ["7400"]);
    assert_eq!(all(&instructions, "USER"), ["10001:10001"], "not root");
}

#[test]
fn the_container_is_built_from_what_is_there() {
    let instructions = instructions();
    let copied: Vec<&str> = all(&instructions, "COPY")
        .into_iter()
        .filter(|copy| !copy.starts_with("--from"))
        .flat_map(|copy| {
            let words: Vec<&str> = copy.split(' ').collect();
            words[..words.len() - 1].to_vec()
        })
        .collect();
    for path in &copied {
        assert!(root().join(path).exists(), "COPY {path}");
    }
    let manifest = read("Cargo.toml");
    let members = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).expect("members");
    for member in members.split('"').skip(1).step_by(2) {
        let folder = member.split('/').next().expect("a folder");
        assert!(copied.contains(&folder), "{member} is a member of the workspace, and {folder} is not copied");
    }
}

#[test]
fn the_container_has_the_compilers_of_the_repository() {
    let file = read("deploy/Containerfile");
    let pinned = read("rust-toolchain.toml");
    let version = pinned.split("channel = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a channel");
    assert!(file.contains(&format!("rust:{version}-slim-bookworm")), "rust-toolchain.toml asks for {version}");
    let setup = read(".ci/setup.sh");
    let packages = setup.split("PACKAGES=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("packages");
    assert!(file.contains(&format!(" {packages} ")), ".ci/setup.sh installs {packages}");
}
