//! What may listen where.

use super::*;

fn refusal(address: &str) -> String {
    let failure = Listen::of(address, None, None).expect_err("refused");
    assert_eq!(failure.status, 2);
    failure.message.expect("a reason")
}

#[test]
fn plain_addresses_are_loopback_only() {
    for address in ["127.0.0.1:7400", "127.8.8.8:0", "[::1]:7400", "localhost:7400"] {
        assert!(Listen::of(address, None, None).is_ok(), "{address}");
    }
    for address in ["0.0.0.0:7400", "[::]:7400", "192.168.0.7:0", "[::ffff:10.0.0.1]:1"] {
        let refusal = refusal(address);
        assert!(refusal.contains("needs TLS") && refusal.contains("--tls-cert and --tls-key"), "{refusal}");
    }
}

#[test]
fn what_is_no_address_is_said() {
    assert!(refusal("7400").contains("write it as 127.0.0.1:7400"));
    assert!(refusal("127.0.0.1:99999").contains("write it as 127.0.0.1:7400"));
}

#[test]
fn a_certificate_needs_its_key() {
    let cert = PathBuf::from("cert.pem");
    let failure = Listen::of("127.0.0.1:0", Some(&cert), None).expect_err("refused");
    assert_eq!(failure.message.as_deref(), Some("--tls-cert and --tls-key belong together; give both"));
    let failure = Listen::of("127.0.0.1:0", Some(&cert), Some(&cert)).expect_err("refused");
    assert!(failure.message.expect("a reason").starts_with("--tls-cert cert.pem: "));
}

#[test]
fn who_listens_everywhere_is_reached_on_loopback() {
    let shown = |address: &str| reached(address.parse().expect("an address")).to_string();
    assert_eq!(shown("0.0.0.0:7400"), "127.0.0.1:7400");
    assert_eq!(shown("[::]:7400"), "[::1]:7400");
    assert_eq!(shown("192.168.0.7:7400"), "192.168.0.7:7400");
}
