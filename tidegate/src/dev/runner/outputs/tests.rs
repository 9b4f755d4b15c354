//! What a job writes counts against its tenant's `log_bytes`.

use bytes::Bytes;
use tidegate_log::{AppendBatch, MemoryLog, Producer};
use tidegate_types::EventTime;

use super::*;

fn stream(tenant: &str, name: &str) -> StreamId {
    StreamId { tenant: tenant.parse().expect("a name"), name: name.parse().expect("a name") }
}

fn append(log: &MemoryLog, stream: &StreamId, bytes: usize) {
    let batch = AppendBatch {
        records: vec![(0, Bytes::from(vec![b'x'; bytes]))],
        ingest_time: EventTime::default(),
        producer: Producer { name: "test".into(), sequence: None },
    };
    log.append(stream, batch).expect("appended");
}

#[test]
fn all_streams_of_a_tenant_count_and_no_others() {
    let log = Arc::new(MemoryLog::new());
    let spec = StreamSpec { partitions: 1, retention: Retention::default(), max_record_bytes: MAX_RECORD_BYTES };
    let streams = [("acme", "in"), ("acme", "out"), ("other", "in")].map(|(tenant, name)| stream(tenant, name));
    for stream in &streams {
        log.create(stream, &spec).expect("made");
        append(&log, stream, 400);
    }
    let room = room(Arc::clone(&log) as _, streams[0].tenant.clone(), 1_000);
    assert!(room(200).is_ok());
    let Err(NoRoom::Full(text)) = room(201) else { panic!("a limit is met") };
    assert!(text.contains("keep 800 of at most 1000 bytes (its limit `log_bytes`)"), "{text}");
    append(&log, &streams[1], 200);
    assert!(room(1).is_err(), "what was written since counts");
}
