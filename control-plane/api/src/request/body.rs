//! Bodies: read whole, within a bound of bytes and of time.
//!
//! The time is for the body as a whole, so a client that sends a byte now and then holds a place for that long at most.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use tokio::time::timeout;

use crate::problem::{Answer, Problem, codes};

/// The body, or what is wrong with it. `what` names the limit for the message.
pub(crate) async fn read_body(body: Body, limit: usize, what: &str, within: Duration) -> Answer<Bytes> {
    let too_large = || Problem::new(codes::BODY_TOO_LARGE, format!("the body has more than {limit} bytes ({what})"));
    let at_least = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if at_least > limit {
        return Err(too_large());
    }
    let Ok(read) = timeout(within, collect(body, limit, at_least)).await else {
        let seconds = within.as_secs();
        return Err(Problem::new(codes::REQUEST_TIMEOUT, format!("the body was not there within {seconds} s")));
    };
    match read {
        Ok(bytes) => Ok(bytes),
        Err(Broken::TooLarge) => Err(too_large()),
        Err(Broken::Lost) => Err(Problem::new(codes::BAD_REQUEST, "the body broke off before its end")),
    }
}

/// The most bytes that the body will turn out to have, if it keeps within its limit.
pub(crate) fn expected_bytes(body: &Body, limit: usize) -> usize {
    body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok()).map_or(limit, |bytes| bytes.min(limit))
}

enum Broken {
    TooLarge,
    Lost,
}

/// What a client promises to send is set aside up to here only.
const MAX_RESERVED: usize = 1024 * 1024;

async fn collect(mut body: Body, limit: usize, at_least: usize) -> Result<Bytes, Broken> {
    let mut whole = Vec::with_capacity(at_least.min(MAX_RESERVED));
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Broken::Lost)?;
        // Trailers are no part of the body.
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > limit {
            return Err(Broken::TooLarge);
        }
        whole.extend_from_slice(&data);
    }
    Ok(Bytes::from(whole))
}
