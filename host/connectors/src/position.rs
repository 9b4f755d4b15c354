//! Where a source of streams goes on reading: what a checkpoint keeps of it.
//!
//! Invariant: from a position the records of streams that do not change come in the order in which an uninterrupted read gives
//! them. So whose turn it is and what is left of that turn are part of it, beside each partition's next record.
//!
//! A stored format: version 1, the turn (stream, partition, records that are left), then each stream: tenant, name, and for
//! each partition its next offset and its flags.

use tidegate_log::StreamId;
use tidegate_types::stored::{Malformed, Read, Stored, put_bytes, put_len, put_u64};

const VERSION: u8 = 1;

/// Flags of a partition.
const BEGINS: u64 = 1;
const COMPLETE: u64 = 2;
const ENDED: u64 = 4;

/// Where reading goes on, as stored bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePosition(pub Vec<u8>);

/// How far a stream was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPosition {
    /// The stream.
    pub stream: StreamId,
    /// One for each partition that it had, in order.
    pub partitions: Vec<PartitionPosition>,
}

/// How far a partition was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartitionPosition {
    /// The offset of the next record that is given out.
    pub next: u64,
    /// Whether it begins with whatever is kept: nothing was read, and nobody said where to begin.
    pub begins: bool,
    /// Whether its end is known: it ends once its turn has been given out.
    pub complete: bool,
    /// Whether it has ended.
    pub ended: bool,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The stream's place in the source, and the partition in it.
    pub(crate) stream: usize,
    pub(crate) partition: u32,
    /// So many records of the turn are left; none: the turn begins with a look.
    pub(crate) left: u64,
}

impl SourcePosition {
    /// Of each stream, in the order of the source, the next offset of each partition: nothing before it is needed any more to
    /// go on from here.
    ///
    /// # Errors
    /// If these are no bytes of ours.
    pub fn next_offsets(&self) -> Result<Vec<(StreamId, Vec<u64>)>, Malformed> {
        let offsets = |of: StreamPosition| (of.stream, of.partitions.iter().map(|partition| partition.next).collect());
        Ok(self.streams()?.into_iter().map(offsets).collect())
    }

    /// How far each stream was read, in the order of the source.
    ///
    /// # Errors
    /// If these are no bytes of ours.
    pub fn streams(&self) -> Result<Vec<StreamPosition>, Malformed> {
        Ok(self.read()?.1)
    }

    pub(crate) fn read(&self) -> Read<(Turn, Vec<StreamPosition>)> {
        let mut stored = Stored::new(&self.0);
        if stored.byte()? != VERSION {
            return Err(Malformed::new("a position of a source"));
        }
        let place = usize::try_from(stored.u64()?).map_err(|_| Malformed::new("a stream's place"))?;
        let turn = Turn { stream: place, partition: stored.u32()?, left: stored.u64()? };
        let streams = (0..stored.len()?).map(|_| read_stream(&mut stored)).collect::<Read<Vec<_>>>()?;
        stored.end()?;
        if streams.get(turn.stream).is_none_or(|of| u64::from(turn.partition) >= of.partitions.len() as u64) {
            return Err(Malformed::new("the partition whose turn it is"));
        }
        Ok((turn, streams))
    }
}

/// Writes a position: first this, then [`put_stream`] and its partitions for each of `streams`.
pub(crate) fn put_head(out: &mut Vec<u8>, turn: Turn, streams: usize) {
    out.push(VERSION);
    put_len(out, turn.stream);
    put_u64(out, turn.partition.into());
    put_u64(out, turn.left);
    put_len(out, streams);
}

pub(crate) fn put_stream(out: &mut Vec<u8>, stream: &StreamId, partitions: usize) {
    put_bytes(out, stream.tenant.as_str().as_bytes());
    put_bytes(out, stream.name.as_str().as_bytes());
    put_len(out, partitions);
}

pub(crate) fn put_partition(out: &mut Vec<u8>, partition: PartitionPosition) {
    let flag = |set: bool, flag: u64| if set { flag } else { 0 };
    put_u64(out, partition.next);
    put_u64(out, flag(partition.begins, BEGINS) | flag(partition.complete, COMPLETE) | flag(partition.ended, ENDED));
}

fn read_stream(stored: &mut Stored<'_>) -> Read<StreamPosition> {
    let tenant = stored.text()?.parse().map_err(|_| Malformed::new("a tenant's name"))?;
    let name = stored.text()?.parse().map_err(|_| Malformed::new("a stream's name"))?;
    let partitions = (0..stored.len()?).map(|_| read_partition(stored)).collect::<Read<Vec<_>>>()?;
    Ok(StreamPosition { stream: StreamId { tenant, name }, partitions })
}

fn read_partition(stored: &mut Stored<'_>) -> Read<PartitionPosition> {
    let (next, flags) = (stored.u64()?, stored.u64()?);
    if flags > BEGINS | COMPLETE | ENDED {
        return Err(Malformed::new("a partition's flags"));
    }
    let is = |flag| flags & flag != 0;
    Ok(PartitionPosition { next, begins: is(BEGINS), complete: is(COMPLETE), ended: is(ENDED) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_a_stored_format() {
        let stream = StreamId { tenant: "acme".parse().unwrap(), name: "events".parse().unwrap() };
        let read = PartitionPosition { next: 300, begins: false, complete: true, ended: true };
        let unread = PartitionPosition { next: 0, begins: true, complete: false, ended: false };
        let turn = Turn { stream: 0, partition: 1, left: 7 };
        let mut bytes = Vec::new();
        put_head(&mut bytes, turn, 1);
        put_stream(&mut bytes, &stream, 2);
        [read, unread].into_iter().for_each(|partition| put_partition(&mut bytes, partition));
        assert_eq!(bytes, b"\x01\0\x01\x07\x01\x04acme\x06events\x02\xac\x02\x06\0\x01");
        let position = SourcePosition(bytes.clone());
        let expected = StreamPosition { stream: stream.clone(), partitions: vec![read, unread] };
        assert_eq!(position.read(), Ok((turn, vec![expected])));
        assert_eq!(position.next_offsets(), Ok(vec![(stream, vec![300, 0])]));
        for cut in 0..bytes.len() {
            assert!(SourcePosition(bytes[..cut].to_vec()).streams().is_err(), "cut to {cut} bytes");
        }
        for (place, byte) in [(0, 2), (1, 1), (2, 2), (bytes.len() - 1, 8)] {
            let mut damaged = bytes.clone();
            damaged[place] = byte;
            assert!(SourcePosition(damaged).streams().is_err(), "byte {place} is {byte}");
        }
        let longer = SourcePosition([&bytes[..], b"x"].concat());
        assert!(longer.streams().is_err());
    }
}
