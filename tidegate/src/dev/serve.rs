//! Serves the API until the process is told to stop, and lets the answers that are under way finish.
//!
//! Invariant: connections are bounded, and one that sends no request is closed in time. So whoever has no token can make the
//! process hold so many files and no more, and the log and the metadata store can open theirs.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::{Listener, ListenerExt};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};

use super::listen::Listening;
use crate::failure::Failure;

/// How long answers that are under way may take after the signal.
const PATIENCE: Duration = Duration::from_secs(5);

/// What bounds those who connect.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Connections at once. Who connects beyond them waits in the system's queue.
    connections: u32,
    /// How long a connection may take until the head of its first request, or of the next one, is there.
    head: Duration,
}

/// A process has 1,024 files at least where nobody changed it: the rest is for the log, the store, the tables and handshakes.
const BOUNDS: Bounds = Bounds { connections: 512, head: Duration::from_secs(30) };

/// Becomes true at the first SIGINT or SIGTERM.
pub(super) fn stop_signal() -> Result<watch::Receiver<bool>, Failure> {
    let (told, stop) = watch::channel(false);
    let catch = |kind| signal(kind).map_err(|error| Failure::external(format!("signals cannot be caught: {error}")));
    let (mut interrupt, mut terminate) = (catch(SignalKind::interrupt())?, catch(SignalKind::terminate())?);
    tokio::spawn(async move {
        tokio::select! {
            biased;
            // Both cancel-safe: a signal that was not taken is not lost.
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        let _ = told.send(true);
        told.closed().await;
    });
    Ok(stop)
}

/// Resolves when the process is told to stop.
async fn told(mut stop: watch::Receiver<bool>) {
    // If nobody can tell any more, it is time to stop too.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Serves until the stop. An answer that is not done in time after it is broken off.
pub(super) async fn until(listening: Listening, router: Router, stop: watch::Receiver<bool>) {
    match listening {
        Listening::Plain(listener) => {
            // Small answers leave at once.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            bounded(serve(listener, router, BOUNDS, stop.clone()), stop).await;
        }
        Listening::Tls(listener) => bounded(serve(listener, router, BOUNDS, stop.clone()), stop).await,
    }
}

/// Accepts until the stop, then waits for the connections' ends.
async fn serve<L: Listener>(mut listener: L, router: Router, bounds: Bounds, stop: watch::Receiver<bool>) {
    let all = usize::try_from(bounds.connections).expect("32 bits fit");
    let places = Arc::new(Semaphore::new(all));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.head);
    let mut stopped = std::pin::pin!(told(stop.clone()));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.expect("nobody closes the places");
            (listener.accept().await.0, place)
        };
        let (io, place) = tokio::select! {
            biased;
            () = &mut stopped => break,
            // Cancel-safe at the stop: whoever connected meanwhile is not served any more.
            next = next => next,
        };
        let serving = http.serve_connection(TokioIo::new(io), TowerToHyperService::new(router.clone()));
        let stopped = told(stop.clone());
        tokio::spawn(async move {
            let _place = place;
            let mut serving = std::pin::pin!(serving);
            let served = tokio::select! {
                biased;
                served = serving.as_mut() => served,
                () = stopped => {
                    serving.as_mut().graceful_shutdown();
                    serving.await
                }
            };
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    drop(listener);
    drop(places.acquire_many(bounds.connections).await);
}

/// The server's end, but not much later than the stop.
async fn bounded(server: impl Future<Output = ()>, stop: watch::Receiver<bool>) {
    let late = async {
        told(stop).await;
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        biased;
        // Neither is asked again after the other has come.
        () = server => {}
        () = late => tracing::warn!("answers under way were broken off"),
    }
}

#[cfg(test)]
mod tests;
