//! The way of a key, a signature and a signed component through the command, as a user goes it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use tidegate_e2e::{Finished, Folder, guest};
use tidegate_signing::{Claim, DeclaredLimits, SecretKey, Statement, sign};

const PIPELINE: &str = "
job: counts
version: 1
source: {log: events, timestamp_field: time, watermark: {strategy: ascending}}
map: {component: identity@1.0.0}
key_by: []
window: {type: tumbling, size: 10ms}
aggregate: {n: {fn: count}}
sink: {type: log, log: out}
";

const SIGN: &str = "sign c.wasm --key acme.key --tenant acme --name identity --version 1.0.0";
const VERIFY: &str = "verify c.wasm --trust acme.pub --tenant acme";
const RUN: &str = "run pipeline.yaml --input events.ndjson --component identity=c.wasm";

fn tidegate(folder: &Folder, args: &str) -> Finished {
    folder.tidegate(&args.split_whitespace().collect::<Vec<_>>())
}

/// A folder with a component and a key.
fn folder() -> Folder {
    let folder = Folder::new();
    fs::copy(guest("identity"), folder.path().join("c.wasm")).expect("the folder takes files");
    folder.write("pipeline.yaml", PIPELINE);
    folder.write("events.ndjson", "{\"time\":1}\n{\"time\":2}\n");
    tidegate(&folder, "keygen --out acme").success();
    folder
}

/// The same, with the component signed.
fn signed() -> Folder {
    let folder = folder();
    tidegate(&folder, SIGN).success();
    folder
}

/// Puts a statement of the test's own beside the component, signed by the key in `acme.key`.
fn restate(folder: &Folder, change: impl FnOnce(&mut Claim)) {
    let now = 1_767_225_600_000;
    let mut claim = Claim {
        tenant: "acme".into(),
        name: "identity".into(),
        version: "1.0.0".into(),
        limits: DeclaredLimits::default(),
        issued_at: now,
        expires_at: now + 1,
    };
    change(&mut claim);
    let key: SecretKey = folder.read("acme.key").parse().expect("a key");
    let component = fs::read(folder.path().join("c.wasm")).expect("it is there");
    let statement = Statement::about(&component, claim).expect("it is sound");
    folder.write("c.wasm.dsse.json", sign(&key, &statement).to_json());
}

/// A refusal that begins with this rule.
fn assert_rule(done: &Finished, rule: &str) {
    assert!(done.refusal().starts_with(&format!("{rule}: ")), "{rule}: {}", done.stderr);
}

#[test]
fn a_component_is_signed_verified_and_run() {
    let folder = folder();
    let keygen = tidegate(&folder, "keygen --out other").success();
    assert!(keygen.stdout.contains("other.key") && keygen.stdout.contains("ed25519:"), "{}", keygen.stdout);
    let signed = tidegate(&folder, &format!("{SIGN} --call-fuel 1000000 --memory 64MiB")).success();
    for said in ["identity 1.0.0 of tenant acme", "mapper", "c.wasm.dsse.json", "1000000", "67108864 bytes"] {
        assert!(signed.stdout.contains(said), "{said}: {}", signed.stdout);
    }
    let verified = tidegate(&folder, &format!("{VERIFY} --name identity --version 1.0.0")).success();
    assert!(signed.stdout.starts_with(&verified.stdout), "both say the same of it: {}", verified.stdout);
    assert_eq!(tidegate(&folder, &format!("{RUN} --trust acme.pub")).success().count("accepted"), 2);
    assert_eq!(tidegate(&folder, &format!("{RUN} --trust acme.pub --tenant acme")).success().count("accepted"), 2);
    let both = tidegate(&folder, &format!("{RUN} --trust other.pub --trust acme.pub")).success();
    assert_eq!(both.count("accepted"), 2);
}

#[test]
fn keys_are_their_owners_and_never_written_over() {
    let folder = folder();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode("acme.key"), mode("acme.pub")), (0o600, 0o644));
    let before = folder.read("acme.key");
    let again = tidegate(&folder, "keygen --out acme");
    assert!(again.refusal().contains("acme.key exists"), "{}", again.stderr);
    fs::remove_file(folder.path().join("acme.key")).expect("it is there");
    assert!(tidegate(&folder, "keygen --out acme").refusal().contains("acme.pub exists"));
    assert!(!folder.path().join("acme.key").exists());
    folder.write("acme.key", &before);
    fs::set_permissions(folder.path().join("acme.key"), Permissions::from_mode(0o644)).expect("it is ours");
    assert!(tidegate(&folder, SIGN).refusal().contains("chmod 600"));
}

#[test]
fn what_is_no_component_of_a_job_is_not_signed() {
    let folder = folder();
    folder.write("c.wasm", b"\0asm\x01\0\0\0");
    assert!(tidegate(&folder, SIGN).refusal().contains("c.wasm: not-a-component: "));
    folder.write("c.wasm", "(component)");
    assert!(tidegate(&folder, SIGN).refusal().contains("not-a-component"));
    // A component that exports nothing.
    folder.write("c.wasm", b"\0asm\x0d\0\x01\0");
    assert!(tidegate(&folder, SIGN).refusal().contains("nothing would run it"));
    assert!(!folder.path().join("c.wasm.dsse.json").exists());
}

#[test]
fn a_wrong_flag_of_sign_is_one_line_and_writes_nothing() {
    let folder = folder();
    for (from, to, said) in [
        ("acme.key", "acme.pub", "mode 644"),
        ("acme.key", "none.key", "--key none.key: "),
        ("--version 1.0.0", "--version 1.0", "statement-malformed: statement.predicate.version"),
        ("--tenant acme", "--tenant Acme", "statement-malformed: statement.predicate.tenant"),
        ("--name identity", "--name a/b", "statement-malformed: statement.subject[0].name"),
        ("c.wasm", "none.wasm", "none.wasm: "),
        ("c.wasm", "/dev/zero", "/dev/zero: has more than"),
        ("c.wasm", "c.wasm --expires 90", "such as 90d"),
        ("c.wasm", "c.wasm --expires 800d", "lifetime-invalid"),
        ("c.wasm", "c.wasm --memory 64MB", "such as 64MiB"),
        ("c.wasm", "c.wasm --call-fuel 0", "--call-fuel"),
        ("c.wasm", "c.wasm --out c.wasm", "is also the component or the key"),
        ("c.wasm", "c.wasm --out acme.key", "is also the component or the key"),
    ] {
        let done = tidegate(&folder, &SIGN.replacen(from, to, 1));
        assert!(done.refusal().contains(said), "{to}: {}", done.stderr);
    }
    let names = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(names, 5, "the component, the pipeline, the events and two keys");
    let unwritable = tidegate(&folder, &format!("{SIGN} --out none/x.json"));
    assert_eq!(unwritable.status, 1, "{}", unwritable.stderr);
}

#[test]
fn verify_names_the_rule_that_fails() {
    let folder = signed();
    tidegate(&folder, "keygen --out other").success();
    for (more, rule) in [("--name other", "name-mismatch"), ("--version 1.0.1", "version-mismatch")] {
        assert_rule(&tidegate(&folder, &format!("{VERIFY} {more}")), rule);
    }
    assert_rule(&tidegate(&folder, &VERIFY.replace("--tenant acme", "--tenant globex")), "tenant-mismatch");
    assert_rule(&tidegate(&folder, &VERIFY.replace("acme.pub", "other.pub")), "key-not-trusted");
    let component = fs::read(folder.path().join("c.wasm")).expect("it is there");
    for changed in [component[..component.len() - 1].to_vec(), [component.as_slice(), b"\0"].concat(), Vec::new()] {
        folder.write("c.wasm", changed);
        assert_rule(&tidegate(&folder, VERIFY), "digest-mismatch");
    }
    folder.write("c.wasm", component);
    let good = folder.read("c.wasm.dsse.json");
    for (from, to, rule) in [
        ("{\"payload\"", "{\"alg\":\"none\",\"payload\"", "unknown-field"),
        ("{\"payload\"", "{\"payload\":\"\",\"payload\"", "duplicate-field"),
        ("vnd.in-toto", "vnd.other", "payload-type"),
        ("\"sig\":\"", "\"sig\":\"A", "base64-not-canonical"),
    ] {
        folder.write("c.wasm.dsse.json", good.replacen(from, to, 1));
        assert_rule(&tidegate(&folder, VERIFY), rule);
    }
    restate(&folder, |_| ());
    assert_rule(&tidegate(&folder, VERIFY), "expired");
    restate(&folder, |claim| (claim.issued_at, claim.expires_at) = (4_102_444_800_000, 4_102_444_900_000));
    assert_rule(&tidegate(&folder, VERIFY), "not-yet-valid");
}

#[test]
fn verify_says_what_it_cannot_read() {
    let folder = folder();
    assert!(tidegate(&folder, VERIFY).refusal().starts_with("c.wasm.dsse.json: "));
    folder.write("c.wasm.dsse.json", "{}");
    assert_rule(&tidegate(&folder, VERIFY), "envelope-malformed");
    for (from, to, said) in [
        ("acme.pub", "none.pub", "--trust none.pub: "),
        ("acme.pub", "acme.key", "this is a secret key"),
        ("acme.pub", "c.wasm", "--trust c.wasm: "),
        ("acme.pub", "/dev/zero", "--trust /dev/zero: has more than"),
        ("c.wasm", "c.wasm --signature /dev/zero", "/dev/zero: has more than 65536 bytes"),
        ("--tenant acme", "", "--tenant"),
        ("--trust acme.pub", "", "--trust"),
    ] {
        let done = tidegate(&folder, &VERIFY.replacen(from, to, 1));
        assert!(done.refusal().contains(said), "{to}: {}", done.stderr);
    }
}

#[test]
fn a_run_asks_for_a_signature_or_the_flag_and_names_both() {
    let folder = signed();
    let done = tidegate(&folder, RUN);
    assert!(
        done.refusal().contains("--trust FILE.pub") && done.refusal().contains("--allow-unsigned"),
        "{}",
        done.stderr
    );
    assert_eq!(tidegate(&folder, &format!("{RUN} --allow-unsigned")).success().count("accepted"), 2);
    let both = tidegate(&folder, &format!("{RUN} --allow-unsigned --trust acme.pub"));
    assert!(both.refusal().contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn a_run_loads_only_what_a_trusted_key_signed_under_the_pipelines_name() {
    let folder = signed();
    tidegate(&folder, "keygen --out other").success();
    let refused = |args: &str, said: &str| {
        let done = tidegate(&folder, &format!("{RUN} --output panes.ndjson {args}"));
        assert!(done.refusal().contains(said), "{args}: {}", done.stderr);
        assert!(!folder.path().join("panes.ndjson").exists(), "nothing is written");
    };
    refused("--trust other.pub", "--component identity@1.0.0=c.wasm: key-not-trusted: ");
    refused("--trust acme.pub --tenant globex", ": tenant-mismatch: ");
    refused("--trust acme.pub --signature identity=pipeline.yaml", ": envelope-malformed: ");
    refused("--trust acme.pub --signature identity=none.json", "its signature none.json cannot be read");
    refused("--trust acme.pub --output acme.pub", "has a file already; keep one");
    folder.write("pipeline.yaml", PIPELINE.replace("identity@1.0.0", "identity@1.1.0"));
    refused("--trust acme.pub", ": version-mismatch: ");
    folder.write("pipeline.yaml", PIPELINE.replace("identity@1.0.0", "other@1.0.0"));
    let other = tidegate(&folder, &RUN.replace("identity=", "other=").replace("c.wasm", "c.wasm --trust acme.pub"));
    assert!(other.refusal().contains(": name-mismatch: "), "{}", other.stderr);
    folder.write("pipeline.yaml", PIPELINE);
    let mut component = fs::read(folder.path().join("c.wasm")).expect("it is there");
    component.push(0);
    folder.write("c.wasm", component);
    refused("--trust acme.pub", ": digest-mismatch: ");
}

#[test]
fn a_signature_may_stand_elsewhere_and_no_output_is_written_over_it() {
    let folder = folder();
    let signed = tidegate(&folder, &format!("{SIGN} --out signature.json")).success();
    assert!(signed.stdout.contains("--signature signature.json"), "{}", signed.stdout);
    tidegate(&folder, &format!("{VERIFY} --signature signature.json")).success();
    let run = format!("{RUN} --trust acme.pub --signature identity@1.0.0=signature.json");
    tidegate(&folder, &run).success();
    for (output, said) in [("signature.json", "is also a signature"), ("acme.pub", "is also a trusted key")] {
        let done = tidegate(&folder, &format!("{run} --output {output}"));
        assert!(done.refusal().contains(said), "{}", done.stderr);
    }
    let beside = tidegate(&folder, &format!("{RUN} --trust acme.pub"));
    assert!(beside.refusal().contains("its signature c.wasm.dsse.json cannot be read"), "{}", beside.stderr);
}

#[test]
fn a_file_without_an_end_is_read_to_its_bound() {
    let folder = signed();
    let pipeline = tidegate(&folder, "check /dev/zero");
    assert!(pipeline.refusal().contains("/dev/zero: has more than 1048576 bytes"), "{}", pipeline.stderr);
    for flag in ["--allow-unsigned", "--trust acme.pub"] {
        let component = tidegate(&folder, &format!("{} {flag}", RUN.replace("c.wasm", "/dev/zero")));
        assert!(component.refusal().contains("=/dev/zero: has more than"), "{}", component.stderr);
    }
}
