//! Values in numbered places, for the few slots whose accumulator does not fit a number.
//!
//! Invariant: a place that was given out and not taken back holds a value.

/// A growing list with reuse of places.
#[derive(Debug)]
pub(super) struct Arena<T> {
    entries: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T: Default> Arena<T> {
    /// Keeps a value and says where.
    pub(super) fn insert(&mut self, value: T) -> u64 {
        if let Some(place) = self.free.pop() {
            let place = u64::from(place);
            *self.get_mut(place) = value;
            return place;
        }
        let place = u32::try_from(self.entries.len()).expect("a task has fewer slots than 2^32");
        self.entries.push(value);
        u64::from(place)
    }

    /// Takes the value of a place, which is free from now on.
    pub(super) fn remove(&mut self, place: u64) -> T {
        self.free.push(u32::try_from(place).expect("places are below 2^32"));
        std::mem::take(self.get_mut(place))
    }

    pub(super) fn get(&self, place: u64) -> &T {
        &self.entries[position(place)]
    }

    pub(super) fn get_mut(&mut self, place: u64) -> &mut T {
        &mut self.entries[position(place)]
    }

    /// The number of places, free ones included.
    pub(super) fn places(&self) -> usize {
        self.entries.len()
    }
}

fn position(place: u64) -> usize {
    usize::try_from(place).expect("places are below 2^32")
}
