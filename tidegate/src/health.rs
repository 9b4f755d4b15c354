//! `tidegate health`: whether the platform in a folder answers. For health checks of containers and services.
//!
//! It asks the platform that holds the folder, on this machine, and sends nothing that is secret: no token. So it also does
//! not check the certificate, which is made for the names that clients use, not for this machine's own address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::bounded;
use crate::client::{API_URL_FILE, DEFAULT_DATA};
use crate::failure::{Failure, describe};

const HEALTH_EXAMPLES: &str = "\
Example, as the health check of a container:
  tidegate health --data /var/lib/tidegate

Exit status: 0 it answers that it is well; 1 it does not answer, or is not well.";

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The file with the address is one short line.
const LARGEST_URL: u64 = 4 << 10;

/// The arguments of `tidegate health`.
#[derive(Args, Clone, Debug)]
#[command(after_help = HEALTH_EXAMPLES)]
pub(crate) struct HealthArgs {
    /// The folder of the platform that is asked (`tidegate dev --data`)
    #[arg(long, value_name = "DIR", default_value = DEFAULT_DATA)]
    pub(crate) data: PathBuf,
}

/// Asks; returns the answer.
///
/// # Errors
/// With status 1 if nobody answers, or the answer is not that it is well.
pub(crate) fn run(args: &HealthArgs) -> Result<String, Failure> {
    let path = args.data.join(API_URL_FILE);
    let failed = |reason: &dyn std::fmt::Display| Failure::external(format!("{}: {reason}", path.display()));
    let text = bounded::read(&path, "an address", LARGEST_URL)
        .map_err(|error| failed(&format!("{error}; no `tidegate dev` listens for this folder")))?;
    let text = String::from_utf8_lossy(&text);
    let url = own_address(text.trim()).ok_or_else(|| failed(&"holds no address that `tidegate dev` writes"))?;
    let config = Agent::config_builder()
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(PATIENCE))
        .tls_config(TlsConfig::builder().disable_verification(true).build())
        .build();
    let answer = config.new_agent().get(format!("{url}/v1/health")).call();
    let answer = answer.and_then(|mut answer| answer.body_mut().with_config().limit(LARGEST_URL).read_to_string());
    answer
        .map(|text| format!("{}\n", crate::failure::one_line(&text)))
        .map_err(|error| Failure::external(format!("{url} is not well: {}", describe(&error))))
}

/// The same address as this machine reaches it: one that listens everywhere is asked on loopback.
fn own_address(url: &str) -> Option<String> {
    let (scheme, address) = url.split_once("://")?;
    let address: SocketAddr = address.parse().ok()?;
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let known = matches!(scheme, "http" | "https");
    known.then(|| format!("{scheme}://{}", SocketAddr::new(ip, address.port())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_listens_everywhere_is_asked_on_loopback() {
        for (written, asked) in [
            ("http://127.0.0.1:7400", Some("http://127.0.0.1:7400")),
            ("https://0.0.0.0:7400", Some("https://127.0.0.1:7400")),
            ("https://[::]:7400", Some("https://[::1]:7400")),
            ("https://10.0.0.5:7400", Some("https://10.0.0.5:7400")),
            ("ftp://10.0.0.5:7400", None),
            ("https://example.com:7400", None),
            ("", None),
        ] {
            assert_eq!(own_address(written).as_deref(), asked, "{written}");
        }
    }

    #[test]
    fn a_folder_where_nothing_listens_is_status_one() {
        let folder = tempfile::tempdir().unwrap();
        let args = HealthArgs { data: folder.path().to_owned() };
        let failure = run(&args).unwrap_err();
        assert!(failure.status == 1 && failure.message.unwrap().contains("no `tidegate dev` listens"));
        // A port that was free a moment ago, as after a process that was killed.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        std::fs::write(folder.path().join(API_URL_FILE), format!("http://127.0.0.1:{port}\n")).unwrap();
        let failure = run(&args).unwrap_err();
        assert!(failure.status == 1 && failure.message.unwrap().contains("is not well"));
    }
}
