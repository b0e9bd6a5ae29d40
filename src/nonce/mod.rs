//! Counting: which number comes next, and when there is none.
//!
//! A [`Factory`] counts for one lease at a time, inside the [`Fence`] that the lease allows, and is told by its owner when
//! a lease opens, grows and closes. A [`Source`] is what a caller counts with: one sequence of one factory.
//!
//! Guarantee: every nonce lies inside the fence it was counted in, and no two nonces of one sequence are equal, whatever
//! threads, clocks and lease changes do meanwhile. Not guaranteed here: that fences do not overlap; that is the
//! coordinator's part.

#[cfg(test)]
mod bench;
mod counter;
mod factory;
mod fence;
mod slow;
mod sortable;
mod source;
mod space;
#[cfg(test)]
mod vectors_tests;
mod why;
mod wide;
mod word;

pub use factory::{Factory, Opening};
pub use fence::{Doubt, Extend, Fence, Watch};
pub use source::{Overflow, Source};
pub use space::Space;
pub use why::{Loss, Why};
pub use wide::WideSource;

/// How the numbers of a sequence follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// Consecutive; the timestamp says when the lease began and moves on with the count.
    Counter,
    /// By time: the timestamp is the lease time of the moment of counting.
    Sortable,
}
