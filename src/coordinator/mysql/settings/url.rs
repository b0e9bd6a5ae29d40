//! A URL as users of MySQL have it: `mysql://user:password@host[:port][,host[:port]…]/database[?parameters]`, also
//! `mariadb:` and `mysql2:`. Where user and password end in it, `address/url.rs` says.

use zeroize::Zeroizing;

use super::parameters::Key;
use crate::coordinator::address::Parameters;
use crate::coordinator::address::url::{self, Reading, decoded, refused, strip_scheme};
use crate::error::Error;

const SCHEMES: [&str; 3] = ["mysql://", "mariadb://", "mysql2://"];

/// The parameters that a URL stands for.
pub(super) fn read(url: &str) -> Result<Parameters<Key>, Error> {
    let url = url.trim_ascii();
    let rest = SCHEMES.iter().find_map(|scheme| strip_scheme(url, scheme));
    let rest = rest.ok_or_else(|| refused("expected mysql://user:password@host:3306/database"))?;
    let mut parts = url::split(rest, read_rest)?;
    for (key, value) in [(Key::User, parts.user), (Key::Password, parts.password)] {
        if let Some(value) = value {
            parts.parameters.set_default(key, value);
        }
    }
    Ok(parts.parameters)
}

/// `hosts[/database][?parameters]`: hosts with numbers for ports, a database without `@` and `/`.
fn read_rest(rest: &str) -> Reading<Key> {
    let (start, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, database) = start.split_once('/').unwrap_or((start, ""));
    if database.contains(['@', '/']) {
        return Reading::Bad(refused("the database's name holds '@' or '/'; percent-encode it, or the password"));
    }
    let mut parameters = Parameters::default();
    if let Err(error) = read_hosts(hosts, &mut parameters) {
        return Reading::Bad(error);
    }
    if !database.is_empty() {
        parameters.set(Key::Database, decoded(database));
    }
    match url::read_query(query, &mut parameters) {
        Ok(None) => Reading::Good(parameters),
        Ok(Some(unknown)) => Reading::Unknown(unknown),
        Err(error) => Reading::Bad(error),
    }
}

fn read_hosts(hosts: &str, parameters: &mut Parameters<Key>) -> Result<(), Error> {
    let hosts = url::read_hosts(hosts)?;
    if hosts.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = hosts.iter().map(|(name, _)| name.as_str()).collect();
    let ports: Vec<_> = hosts.iter().map(|(_, port)| *port).collect();
    parameters.set(Key::Host, Zeroizing::new(names.join(",")));
    if ports.iter().any(|port| !port.is_empty()) {
        parameters.set(Key::Port, Zeroizing::new(ports.join(",")));
    }
    Ok(())
}
