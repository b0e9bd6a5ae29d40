//! The life of a lease: acquire, renew, lose, acquire again, release.
//!
//! [`state`] decides (pure), `manager` does (an actor), `pool` lets all generators of a process share. Renewing early,
//! expiring early and events are about availability and about telling the application soon; uniqueness rests on the fence
//! alone (see [`crate::nonce`] and [`crate::coordinator`]).

#[cfg(feature = "runtime")]
mod actor;
pub mod backoff;
pub mod event;
#[cfg(feature = "runtime")]
pub mod manager;
#[cfg(feature = "runtime")]
pub mod pool;
#[cfg(feature = "runtime")]
pub mod requests;
#[cfg(feature = "runtime")]
mod runtime;
pub mod state;
#[cfg(feature = "runtime")]
pub mod waiters;
#[cfg(feature = "runtime")]
mod warnings;
