//! A table whose places are used again. A place keeps its stamp for ever, so that what names an earlier use of it is known to be stale.

use std::ops::{Index, IndexMut};

/// What stands in a place of the table.
#[derive(Clone, Debug)]
pub struct Slots<T> {
    places: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// An empty table with room for so many, if there is so much.
    pub fn with_room(count: usize) -> Slots<T> {
        let mut slots = Slots::default();
        // Without it the table grows by and by.
        let _ = slots.places.try_reserve_exact(count);
        slots
    }

    /// Takes a place for what is made of what stood in it; None where it is a new one.
    #[inline]
    pub fn take(&mut self, make: impl FnOnce(Option<&T>) -> T) -> u32 {
        if let Some(place) = self.free.pop() {
            let entry = &mut self.places[place as usize];
            *entry = make(Some(entry));
            return place;
        }
        self.take_new(make(None))
    }

    #[cold]
    fn take_new(&mut self, value: T) -> u32 {
        assert!(self.places.len() < u32::MAX as usize, "more than four billion calls or attempts are under way");
        self.places.push(value);
        (self.places.len() - 1) as u32
    }

    /// Gives a place back.
    #[inline]
    pub fn give_back(&mut self, place: u32) {
        self.free.push(place);
    }

    /// How many places there are, free ones too.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// All places, free ones too.
    pub fn places(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.places)
    }
}

impl<T> Index<u32> for Slots<T> {
    type Output = T;
    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.places[place as usize]
    }
}

impl<T> IndexMut<u32> for Slots<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.places[place as usize]
    }
}

/// What only some models need of what stands in a table of [`Slots`], by the same places. Empty in all others: whoever reads it there
/// finds out.
#[derive(Clone, Debug)]
pub struct Extras<T>(Vec<T>);

impl<T> Default for Extras<T> {
    fn default() -> Extras<T> {
        Extras(Vec::new())
    }
}

impl<T> Extras<T> {
    /// Fills a place, which is one of those there are or the next.
    #[inline]
    pub fn put(&mut self, place: u32, value: T) {
        match self.0.get_mut(place as usize) {
            Some(old) => *old = value,
            None => self.0.push(value),
        }
    }
}

impl<T> Index<u32> for Extras<T> {
    type Output = T;
    #[inline]
    fn index(&self, place: u32) -> &T {
        &self.0[place as usize]
    }
}

impl<T> IndexMut<u32> for Extras<T> {
    #[inline]
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.0[place as usize]
    }
}
