//! A session in which a statement means the same on every server, whatever its settings and its users' are; and servers
//! that are of no use.

use crate::coordinator::mysql::connection::{Connection, Kind};
use crate::coordinator::mysql::protocol::Row;
use crate::error::{Error, Retry};

const LOOK: &str = "SELECT @@version AS version, @@version_comment AS comment, @@global.read_only AS read_only, \
                    @@global.innodb_read_only AS innodb_read_only";

/// Nobody waits for a lock for longer than a request may take, and a session without us ends soon.
const SET: &str = "SET NAMES utf8mb4, autocommit=1, time_zone='+00:00', \
                   sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', sql_safe_updates=0, \
                   innodb_lock_wait_timeout=4, lock_wait_timeout=4, wait_timeout=180, ";

/// They speak the protocol, but have no one clock.
const OTHERS: [&str; 2] = ["TiDB", "OceanBase"];

/// Looks at the server and sets the session up.
pub(super) async fn set_up(mut connection: Connection) -> Result<Connection, Error> {
    let (kind, version) = server_of(&connection).await?;
    connection.kind = kind;
    // MariaDB had other names for them before 11.1.
    let isolation = if kind == Kind::MariaDb && version < (11, 1) {
        "tx_isolation='READ-COMMITTED', tx_read_only=0"
    } else {
        "transaction_isolation='READ-COMMITTED', transaction_read_only=0"
    };
    connection.query(&format!("{SET}{isolation}"), &[]).await?;
    Ok(connection)
}

/// Which of the two a server is, and its version, if it is of use.
pub(in crate::coordinator::mysql) async fn server_of(connection: &Connection) -> Result<(Kind, (u32, u32)), Error> {
    let looked = connection.query(LOOK, &[]).await?;
    let row = looked.rows.first().ok_or_else(|| connection.wrong("no answer", None))?;
    let text = |name| row.text(name).ok().flatten().unwrap_or_default();
    let (version, comment) = (text("version"), text("comment"));
    if let Some(other) = OTHERS.iter().find(|other| version.contains(*other) || comment.contains(*other)) {
        let text =
            format!("coordinator: {other} has no one clock that leases could be compared by; use MySQL or Redis");
        return Err(Error::config("coordinator", text));
    }
    let (kind, newest) = judge(&version);
    if newest < if kind == Kind::MariaDb { (10, 6) } else { (8, 0) } {
        let name = if kind == Kind::MariaDb { "MariaDB" } else { "MySQL" };
        let text = format!("the server is {name} {version}; expected MySQL 8.0 or MariaDB 10.6 or newer");
        return Err(connection.wrong(&text, None).retry_as(Retry::Never));
    }
    if is_on(row, "read_only") || is_on(row, "innodb_read_only") {
        let hint = "it is a replica, or was made read-only; the primary is needed";
        return Err(connection.wrong("the server takes no writes", Some(hint)));
    }
    Ok((kind, newest))
}

/// `ON`, `1`, or since MariaDB 12 one of several words.
fn is_on(row: &Row, name: &str) -> bool {
    !matches!(row.text(name), Ok(Some(word)) if word == "0" || word.eq_ignore_ascii_case("OFF"))
}

/// Which of the two, and its first two numbers: `8.0.mysql_aurora.3`, `9.7.4-2`, `10.11.19-MariaDB-0+deb12u1`, with or
/// without the `5.5.5-` that MariaDB put before it for old replicas.
fn judge(version: &str) -> (Kind, (u32, u32)) {
    let kind = if version.contains("MariaDB") { Kind::MariaDb } else { Kind::MySql };
    let version = version.strip_prefix("5.5.5-").unwrap_or(version);
    let mut numbers = version.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    (kind, (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (version, kind, numbers) in [
            ("9.7.4-2", Kind::MySql, (9, 7)),
            ("8.0.36", Kind::MySql, (8, 0)),
            ("8.0.mysql_aurora.3.04.0", Kind::MySql, (8, 0)),
            ("5.7.44-log", Kind::MySql, (5, 7)),
            ("10.11.19-MariaDB-0+deb12u1", Kind::MariaDb, (10, 11)),
            ("5.5.5-10.6.12-MariaDB-log", Kind::MariaDb, (10, 6)),
            ("12.0.2-MariaDB", Kind::MariaDb, (12, 0)),
            ("who knows", Kind::MySql, (0, 0)),
        ] {
            assert_eq!(judge(version), (kind, numbers), "{version}");
        }
    }
}
