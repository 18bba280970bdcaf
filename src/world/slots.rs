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
    /// Takes a place: `fill` is given what stood there before, if anything did, and says what stands there now.
    #[inline]
    pub fn take(&mut self, fill: impl FnOnce(Option<&T>) -> T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = fill(Some(&self.places[place as usize]));
                place
            }
            None => {
                assert!(self.places.len() < u32::MAX as usize, "more than four billion calls or attempts are under way");
                self.places.push(fill(None));
                (self.places.len() - 1) as u32
            }
        }
    }

    /// Gives a place back.
    #[inline]
    pub fn give_back(&mut self, place: u32) {
        self.free.push(place);
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
