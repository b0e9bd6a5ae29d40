//! The servers of an address.

use super::parameters::Key;
use crate::coordinator::address::Parameters;
use crate::coordinator::address::parameters::wrong;
use crate::coordinator::socket::Host;
use crate::error::Error;

const PORT: u16 = 3306;

/// All hosts, `localhost` where there is none. A Unix socket stands for all of them.
pub(super) fn hosts(given: &Parameters<Key>) -> Result<Vec<Host>, Error> {
    if let Some(path) = given.get(Key::Socket) {
        return socket(path);
    }
    let list = |key| given.get(key).map(|text| text.split(',').map(str::trim).collect::<Vec<_>>()).unwrap_or_default();
    let (names, ports) = (list(Key::Host), list(Key::Port));
    let count = names.len().max(1);
    if ports.len() > 1 && ports.len() != count {
        let text = format!("{} ports for {count} hosts; expected one for all or one for each", ports.len());
        return Err(Error::config("coordinator", format!("coordinator: {text}")));
    }
    if let [path] = names[..]
        && path.starts_with('/')
    {
        return socket(path);
    }
    let one = |index: usize| {
        let name = names.get(index).copied().unwrap_or_default();
        host(name, ports.get(index).or(ports.first()).copied().unwrap_or_default())
    };
    (0..count).map(one).collect()
}

fn host(name: &str, port: &str) -> Result<Host, Error> {
    if name.contains(|c: char| c.is_whitespace() || c.is_control() || "/@".contains(c)) {
        return Err(wrong(Key::Host, "a host's name or IP address", name));
    }
    let port = match port.parse() {
        _ if port.is_empty() => PORT,
        Ok(port) if port > 0 => port,
        _ => return Err(wrong(Key::Port, "a number from 1 to 65535", port)),
    };
    Ok(Host::new(name, port))
}

#[cfg(unix)]
fn socket(path: &str) -> Result<Vec<Host>, Error> {
    if !path.starts_with('/') {
        return Err(wrong(Key::Socket, "the path of a Unix socket, from / on", path));
    }
    Ok(vec![Host::Socket(path.to_owned())])
}

#[cfg(not(unix))]
fn socket(path: &str) -> Result<Vec<Host>, Error> {
    Err(wrong(Key::Socket, "a host: this system has no Unix sockets", path))
}
