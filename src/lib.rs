//! Unique 64-bit IDs under a leased machine ID, masked and prefixed: the core of the npm package `mintid`.
//!
//! A nonce is `timestamp · machine ID · count` ([`layout`]). Factories count it ([`nonce`]) inside the fence that a lease
//! allows; a [`coordinator`] grants leases and [`lease`] keeps them alive. A [`cipher`] masks the number, a [`codec`]
//! spells it, and an [`id`] type composes these for one column. `binding` is the border to JavaScript.
//!
//! An arrow between modules points down this list, never up:
//!
//! | module | knows | never |
//! |---|---|---|
//! | `binding` | napi; converts and delegates | a rule of the domain |
//! | `generator` | one handle: its keys, its part in the lease, what its thread was told | JavaScript |
//! | [`coordinator`], [`lease`] | who may use which machine ID, until when | text, ciphers |
//! | [`id`] | what the IDs of one column look like | leases |
//! | [`nonce`] | atomics and fences | Tokio, ciphers, text |
//! | [`cipher`], [`codec`] | blocks; text and numbers | clocks, IO |
//! | [`layout`], [`clock`], [`error`], `lanes` | bits, time, what went wrong, wide vectors | everything above |

// Unit tests run without Node, which alone can call it.
#[cfg(all(feature = "binding", not(test)))]
mod binding;
pub mod cipher;
pub mod clock;
pub mod codec;
pub mod coordinator;
pub mod error;
#[cfg(feature = "runtime")]
pub mod generator;
pub mod id;
mod lanes;
pub mod layout;
pub mod lease;
pub mod nonce;
