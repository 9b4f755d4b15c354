//! Where the API listens: on loopback in the clear, elsewhere with TLS only.
//!
//! Tokens travel in every request, so whoever reads the wire could act for a tenant: a plain address beyond loopback is
//! refused, and there is no flag that allows it.

mod tls;

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::net::TcpListener;

use crate::failure::Failure;
pub(super) use tls::TlsListener;

/// Where to listen, and how.
#[derive(Debug)]
pub(super) struct Listen {
    asked: String,
    address: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
}

/// Something that listens.
pub(super) enum Listening {
    Plain(TcpListener),
    Tls(TlsListener),
}

impl Listen {
    /// # Errors
    /// If the address is none, is beyond loopback without TLS, or a TLS file cannot be used.
    pub(super) fn of(address: &str, cert: Option<&PathBuf>, key: Option<&PathBuf>) -> Result<Self, Failure> {
        let asked = address.to_owned();
        let wrong = |reason: &str| {
            Failure::invalid(format!(
                "--listen {asked}: {reason}; write it as 127.0.0.1:7400 (port 0 takes a free one)"
            ))
        };
        let found = address.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?.next();
        let address = found.ok_or_else(|| wrong("no such address"))?;
        let tls = match (cert, key) {
            (Some(cert), Some(key)) => Some(tls::config(cert, key)?),
            (None, None) => None,
            (Some(_), None) | (None, Some(_)) => {
                return Err(Failure::invalid("--tls-cert and --tls-key belong together; give both"));
            }
        };
        if tls.is_none() && !address.ip().is_loopback() {
            return Err(Failure::invalid(format!(
                "--listen {asked}: beyond this machine the API needs TLS, because every request carries a token; \
                 give --tls-cert and --tls-key, or listen on 127.0.0.1"
            )));
        }
        Ok(Self { asked, address, tls })
    }

    /// Listens. Whoever connects from here on waits for the first answer.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub(super) async fn bind(&self) -> Result<(Listening, String), Failure> {
        let listener = TcpListener::bind(self.address).await.map_err(|error| self.failed(&error))?;
        let local = listener.local_addr().map_err(|error| self.failed(&error))?;
        let reached = reached(local);
        Ok(match &self.tls {
            None => (Listening::Plain(listener), format!("http://{reached}")),
            Some(config) => {
                let listening = TlsListener::start(listener, local, Arc::clone(config));
                (Listening::Tls(listening), format!("https://{reached}"))
            }
        })
    }

    fn failed(&self, error: &io::Error) -> Failure {
        let asked = &self.asked;
        match error.kind() {
            io::ErrorKind::AddrInUse => Failure::invalid(format!(
                "--listen {asked}: another process listens there; choose another port, or 0 for a free one"
            )),
            _ => Failure::external(format!("--listen {asked}: {error}")),
        }
    }
}

/// Where a client on this machine reaches an address: who listens everywhere is also on loopback.
fn reached(local: SocketAddr) -> SocketAddr {
    match local {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => (Ipv4Addr::LOCALHOST, v4.port()).into(),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => (Ipv6Addr::LOCALHOST, v6.port()).into(),
        _ => local,
    }
}

#[cfg(test)]
mod tests;
