//! MySQL and MariaDB: the leases of a fleet in two small tables of any database that the fleet shares.

mod connect;
mod connection;
mod failure;
mod protocol;
mod settings;

pub use self::connect::connect;
pub use self::connection::{Connection, Value};
pub use self::protocol::{Answer, Row};
pub use self::settings::Settings;
