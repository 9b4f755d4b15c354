//! Serves the API until the process is told to stop, and lets the answers that are under way finish.

use std::future::{Future, IntoFuture};
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::listen::Listening;
use crate::failure::Failure;

/// How long answers that are under way may take after the signal.
const PATIENCE: Duration = Duration::from_secs(5);

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
pub(super) async fn until(listening: Listening, router: Router, stop: watch::Receiver<bool>) -> Result<(), Failure> {
    let graceful = told(stop.clone());
    match listening {
        Listening::Plain(listener) => {
            // Small answers leave at once.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            bounded(axum::serve(listener, router).with_graceful_shutdown(graceful).into_future(), stop).await
        }
        Listening::Tls(listener) => {
            bounded(axum::serve(listener, router).with_graceful_shutdown(graceful).into_future(), stop).await
        }
    }
}

/// The server's end, but not much later than the stop.
async fn bounded(
    server: impl Future<Output = std::io::Result<()>>,
    stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let late = async {
        told(stop).await;
        tokio::time::sleep(PATIENCE).await;
    };
    tokio::select! {
        biased;
        // Neither is asked again after the other has come.
        served = server => served.map_err(|error| Failure::external(format!("the API cannot be served: {error}"))),
        () = late => {
            tracing::warn!("answers under way were broken off");
            Ok(())
        }
    }
}
