//! TLS under the API: rustls with ring.
//!
//! Handshakes run on tasks of their own, so that a client that is slow at it keeps nobody waiting. Invariant: handshakes
//! that go on at once are bounded, and each ends in time.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::failure::Failure;

/// Handshakes that go on at once.
const HANDSHAKES: usize = 256;
/// How long one may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Until the next try after the system could not give a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Listens for connections whose handshake is done.
pub(in crate::dev) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    local: SocketAddr,
}

impl TlsListener {
    pub(super) fn start(listener: TcpListener, local: SocketAddr, config: Arc<ServerConfig>) -> Self {
        // Whoever waits to be taken keeps the place of its handshake, so that these bound the connections too.
        let (sender, ready) = mpsc::channel(1);
        tokio::spawn(accept(listener, TlsAcceptor::from(config), sender));
        Self { ready, local }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The accepting task ends with this value only.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    ready: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) -> Option<Infallible> {
    let places = Arc::new(Semaphore::new(HANDSHAKES));
    loop {
        let place = Arc::clone(&places).acquire_owned().await.ok()?;
        let accepted = tokio::select! {
            biased;
            // Cancel-safe: it only waits.
            () = ready.closed() => return None,
            // Cancel-safe: a connection that was not returned stays in the system's queue.
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, from)) = accepted else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            let _place = place;
            match timeout(HANDSHAKE, acceptor.accept(stream)).await {
                // A listener that has ended wants no connections.
                Ok(Ok(stream)) => drop(ready.send((stream, from)).await),
                Ok(Err(error)) => tracing::debug!(%from, %error, "no TLS handshake"),
                Err(_) => tracing::debug!(%from, "a TLS handshake took too long"),
            }
        });
    }
}

/// What a server with this certificate and key needs.
pub(super) fn config(cert: &Path, key: &Path) -> Result<Arc<ServerConfig>, Failure> {
    let wrong = |flag: &str, path: &Path, reason: String| {
        Failure::invalid(format!("{flag} {}: {reason}; name a PEM file", path.display()))
    };
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(cert).and_then(Iterator::collect);
    let chain = chain.map_err(|error| wrong("--tls-cert", cert, error.to_string()))?;
    if chain.is_empty() {
        return Err(wrong("--tls-cert", cert, "no certificate in it".into()));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong("--tls-key", key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::external(format!("TLS: {error}")))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| wrong("--tls-key", key, format!("it does not fit --tls-cert: {error}")))?;
    Ok(Arc::new(config))
}
