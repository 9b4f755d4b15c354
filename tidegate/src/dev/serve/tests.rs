//! Who may connect, and for how long.

use std::net::SocketAddr;

use axum::routing::get;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::*;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: t\r\n\r\n";
const LONG: Duration = Duration::from_secs(3600);

struct Served {
    at: SocketAddr,
    stop: watch::Sender<bool>,
    ended: JoinHandle<()>,
}

async fn served(connections: u32, head: Duration) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let at = listener.local_addr().expect("bound");
    let router = Router::new().route("/", get(async || "here"));
    let (stop, told) = watch::channel(false);
    let ended = tokio::spawn(serve(listener, router, Bounds { connections, head }, told));
    Served { at, stop, ended }
}

impl Served {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.at).await.expect("connected")
    }
}

/// Reads until an answer's body is there.
async fn answered(stream: &mut TcpStream) {
    let mut got = Vec::new();
    while !got.ends_with(b"here") {
        assert_ne!(stream.read_buf(&mut got).await.expect("open"), 0, "{}", String::from_utf8_lossy(&got));
    }
}

#[tokio::test]
async fn who_sends_no_head_is_closed() {
    let served = served(1, Duration::from_millis(50)).await;
    for sent in [&b""[..], b"GET / HTTP/1.1\r\nHo"] {
        let mut slow = served.connect().await;
        slow.write_all(sent).await.expect("sent");
        let mut rest = Vec::new();
        // The end, or a reset: both are one.
        slow.read_to_end(&mut rest).await.ok();
        assert!(!rest.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&rest));
    }
    // The only place is free again.
    let mut next = served.connect().await;
    next.write_all(REQUEST).await.expect("sent");
    answered(&mut next).await;
    assert_eq!(next.read(&mut [0]).await.ok().unwrap_or_default(), 0, "closed while it waits for a second request");
}

#[tokio::test]
async fn who_connects_beyond_the_bound_waits_for_a_place() {
    let served = served(1, LONG).await;
    let (mut first, mut second) = (served.connect().await, served.connect().await);
    second.write_all(REQUEST).await.expect("sent");
    for _ in 0..3 {
        first.write_all(REQUEST).await.expect("sent");
        answered(&mut first).await;
    }
    let early = second.try_read(&mut [0]).expect_err("nothing to read");
    assert_eq!(early.kind(), std::io::ErrorKind::WouldBlock);
    drop(first);
    answered(&mut second).await;
}

#[tokio::test]
async fn at_the_stop_connections_without_a_request_are_closed() {
    let served = served(4, LONG).await;
    let mut idle = served.connect().await;
    idle.write_all(REQUEST).await.expect("sent");
    answered(&mut idle).await;
    served.stop.send(true).expect("somebody serves");
    served.ended.await.expect("ended");
    assert_eq!(idle.read(&mut [0]).await.ok().unwrap_or_default(), 0);
    assert!(TcpStream::connect(served.at).await.is_err(), "nobody listens any more");
}
