//! Entries become windows, identities and what else is kept. Nothing of them is trusted.

use tidegate_state::group_of;
use tidegate_types::stored::{Malformed, Read, Stored};
use tidegate_types::{KeyGroup, Watermark, key_group, key_hash};
use tidegate_windows::WindowSpan;

use super::write::{AWAITS, HIDDEN, PAST_END, STANDING};
use super::{
    FIRED, IDENTITY, REFUSED, SESSION, SHOWN, SLICE, VERSION, WINDOW, end_of_key, read_standing, take_time, take_values,
};
use crate::window::WindowOperator;
use crate::window::keys::KeyId;
use crate::window::tracked::Mark;

impl WindowOperator {
    /// See `Operator::restore_head`.
    pub(in crate::window) fn read_head(&mut self, head: &mut Stored<'_>) -> Read<()> {
        version(head)?;
        self.watermark = self.watermark.max(Watermark::at(head.i64()?));
        self.clock = self.clock.max(head.i64()?);
        self.unshown.number_from(head.u64()?);
        let mut names = Vec::new();
        for _ in 0..head.len()? {
            names.push(head.text()?);
        }
        if names == self.aggregates() {
            Ok(())
        } else {
            Err(Malformed::new("the aggregates of the operator, as its pipeline has them"))
        }
    }

    /// See `Operator::restore`.
    pub(in crate::window) fn read_entry(&mut self, key: &[u8], value: &[u8]) -> Read<()> {
        let (namespace, group, rest) = group_of(key)?;
        let mut value = Stored::new(value);
        version(&mut value)?;
        let (sessions, shares) = (self.is_session(), self.sliced.is_some());
        match namespace {
            WINDOW if !sessions && !shares => self.read_window(group, rest, value),
            SESSION if sessions => self.read_window(group, rest, value),
            SLICE if shares => self.read_slice(group, rest, value),
            FIRED if shares => self.read_fired(group, rest, value),
            IDENTITY => self.read_identity(group, rest, value),
            REFUSED => {
                let (hash, _) = self.hash_in(group, &mut &*rest)?;
                self.refused.read(hash, rest, value)
            }
            SHOWN => {
                let number = rest.try_into().map(u64::from_be_bytes);
                let number = number.map_err(|_| Malformed::new("the number of a record"))?;
                value.end()?;
                self.unshown.read_shown(group, number)
            }
            _ => Err(Malformed::new("an entry of this kind of window")),
        }
    }

    /// See `Operator::restored`.
    pub(in crate::window) fn end_restoring(&mut self) -> Read<()> {
        self.unshown.end_restoring();
        if let Some(sliced) = &mut self.sliced {
            sliced.set_all_timers(self.watermark);
        }
        Ok(())
    }

    /// Takes a key off the front: its hash and its bytes. It must be of the group.
    fn hash_in<'a>(&self, group: KeyGroup, rest: &mut &'a [u8]) -> Read<(u64, &'a [u8])> {
        let encoded = take_values(rest, self.config.key_by.len())?;
        let hash = key_hash(encoded);
        if key_group(hash, self.config.max_parallelism) == group {
            Ok((hash, encoded))
        } else {
            Err(Malformed::new("a key of its key group"))
        }
    }

    /// Takes a key off the front. Whatever it is of has to refer to it.
    fn key_in(&mut self, group: KeyGroup, rest: &mut &[u8]) -> Read<KeyId> {
        let (hash, encoded) = self.hash_in(group, rest)?;
        Ok(self.keys.find_or_add(hash, encoded))
    }

    fn read_window(&mut self, group: KeyGroup, mut rest: &[u8], mut value: Stored<'_>) -> Read<()> {
        let (key, span) = if self.is_session() {
            let key = self.key_in(group, &mut rest)?;
            (key, WindowSpan { start: take_time(&mut rest)?, end: take_time(&mut rest)? })
        } else {
            let (end, start) = (take_time(&mut rest)?, take_time(&mut rest)?);
            (self.key_in(group, &mut rest)?, WindowSpan { start, end })
        };
        end_of_key(rest)?;
        if span.start >= span.end || self.windows.find(key, span).is_some() {
            return Err(Malformed::new("a window of its own"));
        }
        let slot = self.windows.open(&mut self.keys, key, span, self.watermark);
        self.builtins.reserve(self.windows.capacity());
        self.hooks.iter_mut().for_each(|hook| hook.reserve(self.windows.capacity()));
        let flags = value.byte()?;
        let window = self.windows.slot_mut(slot);
        window.mark = Mark::STORED;
        window.past_end = flags & PAST_END != 0;
        (window.fresh, window.next_index) = (value.u64()?, value.u64()?);
        window.awaits = flags & AWAITS != 0 && window.fresh > 0;
        if window.awaits {
            self.awaiting.push(self.windows.reference(slot));
        }
        if flags & STANDING != 0 {
            let standing = read_standing(&mut value)?;
            self.windows.stand(slot, standing);
        }
        if flags & HIDDEN != 0 {
            let hash = self.keys.hash(key);
            self.windows.slot_mut(slot).hidden = self.unshown.read(hash, group, &mut value)?;
        }
        self.builtins.read(slot, &mut value)?;
        for hook in &mut self.hooks {
            hook.read(slot, &mut value)?;
        }
        value.end()
    }

    fn read_slice(&mut self, group: KeyGroup, mut rest: &[u8], mut value: Stored<'_>) -> Read<()> {
        let key = self.key_in(group, &mut rest)?;
        let start = take_time(&mut rest)?;
        end_of_key(rest)?;
        let Some(sliced) = &mut self.sliced else { return Ok(()) };
        let slot = sliced.read_slice(&mut self.keys, &mut self.builtins, key, start, &self.tracker)?;
        self.builtins.read(slot, &mut value)?;
        value.end()
    }

    fn read_fired(&mut self, group: KeyGroup, mut rest: &[u8], mut value: Stored<'_>) -> Read<()> {
        let key = self.key_in(group, &mut rest)?;
        let end = take_time(&mut rest)?;
        end_of_key(rest)?;
        let next_index = value.u64()?;
        let standing = read_standing(&mut value)?;
        value.end()?;
        match &mut self.sliced {
            Some(sliced) => sliced.read_fired(&mut self.keys, key, end, next_index, standing),
            None => Ok(()),
        }
    }

    fn read_identity(&mut self, group: KeyGroup, mut rest: &[u8], mut value: Stored<'_>) -> Read<()> {
        let key = self.key_in(group, &mut rest)?;
        let identity = take_values(&mut rest, 1)?;
        end_of_key(rest)?;
        let until = value.i64()?;
        value.end()?;
        let Some(identities) = &mut self.identities else {
            return Err(Malformed::new("an entry of an operator that drops duplicates"));
        };
        identities.read(&mut self.keys, key, identity, until)
    }
}

/// Takes the version off the front.
pub(in crate::window) fn version(stored: &mut Stored<'_>) -> Read<()> {
    if stored.byte()? == VERSION { Ok(()) } else { Err(Malformed::new("an entry of a version that is known")) }
}
