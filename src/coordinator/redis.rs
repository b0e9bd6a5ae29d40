//! Redis and Valkey: the leases of a fleet in one hash.

mod connect;
mod connection;
mod failure;
mod settings;

pub use self::connect::connect;
pub use self::connection::{Argument, Connection, Script};
pub use self::failure::failure;
pub use self::settings::Settings;
pub use ::redis::Value;
