//! What a server's numbers mean, and what to do about them. Below 1900 MySQL and MariaDB agree on them; above, each number
//! here is one that only one of them has, or both for the same.

use crate::coordinator::tls::Words;
use crate::error::Retry;

/// What belongs to TLS is called, here and at the server.
pub(super) const TLS: Words = Words {
    root: "ssl-ca or tls.ca",
    identity: "ssl-cert and ssl-key, or tls.cert and tls.key",
    chain_only: "ssl-mode=VERIFY_CA",
    servers_root: "ssl_ca",
};

const WRONG_PASSWORD: &str = "user or password is wrong, or this user may not come from here; '/ @ # : ? %' in a password are best percent-encoded";

const RIGHTS: &str = "grant the user that right, or let one that has it run: npx mintid setup";

const READ_ONLY: &str = "it is a replica, or was made read-only; the primary is needed";

const VERSION: &str = "MySQL 8.0 or MariaDB 10.6 or newer is needed";

const BUSY: &str = "the server has as many connections as it takes: raise max_connections or the user's limit";

const LOCKED_OUT: &str = "the account is locked: alter user … account unlock";

/// Numbers whose SQLSTATE says too little, or something else.
const KNOWN: &[(u16, Retry, &str)] = &[
    // Full.
    (1040, Retry::Soon, BUSY),
    (1203, Retry::Soon, BUSY),
    (1226, Retry::Soon, "the user has used up what it is granted an hour or at once: alter user … with …"),
    (1021, Retry::Soon, "the server's disk is full"),
    (1114, Retry::Soon, "the server's disk, or its tablespace, is full"),
    // Held by others.
    (1205, Retry::Soon, "another transaction holds the lock: does somebody have the tables open?"),
    (1213, Retry::Soon, ""),
    (3572, Retry::Soon, ""),
    // Takes no writes.
    (1290, Retry::Soon, READ_ONLY),
    (1792, Retry::Soon, READ_ONLY),
    (1836, Retry::Soon, READ_ONLY),
    // Comes, goes, or ended the connection.
    (1053, Retry::Soon, "the server is shutting down"),
    (1317, Retry::Soon, ""),
    (1927, Retry::Soon, "somebody ended the connection"),
    (3169, Retry::Soon, "somebody ended the session"),
    (4031, Retry::Soon, "the connection was idle for longer than the server's wait_timeout"),
    (3032, Retry::Soon, "the server is offline (offline_mode)"),
    (3168, Retry::Soon, "the server is starting up or shutting down"),
    (1047, Retry::Soon, "the node is not, or not yet, part of its cluster"),
    // Others are making the same at this moment.
    (1007, Retry::Soon, ""),
    (1050, Retry::Soon, ""),
    (1146, Retry::Soon, ""),
    (1412, Retry::Soon, ""),
    // Groups of servers.
    (3098, Retry::Never, "group replication wants InnoDB and a primary key: npx mintid setup makes such tables"),
    (3100, Retry::Soon, "the group did not take the transaction: has the server left it?"),
    (3101, Retry::Soon, "another member of the group was quicker"),
    (1785, Retry::Never, "with enforce_gtid_consistency all of mintid's tables must be InnoDB"),
    (1665, Retry::Never, "the binary log must take rows: binlog_format=ROW or MIXED"),
    // Not let in.
    (
        1044,
        Retry::Never,
        "the user may not use this database: grant select, insert, update on it, and create for the tables",
    ),
    (1045, Retry::Never, WRONG_PASSWORD),
    (1698, Retry::Never, WRONG_PASSWORD),
    (1049, Retry::Never, "create the database, or name another one at the end of the URL"),
    (1046, Retry::Never, "name a database at the end of the URL"),
    (1130, Retry::Never, "the server has no user that may come from this address: create user 'name'@'address' …"),
    (
        1129,
        Retry::Never,
        "too many connections from here have failed: mysqladmin flush-hosts, or truncate performance_schema.host_cache",
    ),
    (1251, Retry::Never, "the server and mintid know no common way to log in: give the user caching_sha2_password"),
    (1275, Retry::Never, "the user's password is in the format of before MySQL 4.1: set it anew"),
    (1524, Retry::Never, "the server has not loaded the plugin that this user logs in by"),
    (1820, Retry::Never, "the password has expired: alter user … identified by …"),
    (1862, Retry::Never, "the password has expired: alter user … identified by …"),
    (3118, Retry::Never, LOCKED_OUT),
    (3955, Retry::Never, LOCKED_OUT),
    (4151, Retry::Never, LOCKED_OUT),
    (3159, Retry::Never, "the server wants TLS: ssl-mode=REQUIRED or VERIFY_IDENTITY"),
    (1142, Retry::Never, RIGHTS),
    (1143, Retry::Never, RIGHTS),
    (1227, Retry::Never, RIGHTS),
    (1370, Retry::Never, RIGHTS),
    // What older servers make of our statements.
    (1064, Retry::Never, VERSION),
    (1193, Retry::Never, VERSION),
    (1305, Retry::Never, VERSION),
];

/// Whether to try again, and what to do.
pub(super) fn of_server(code: u16, state: &str, message: &str) -> (Retry, Option<&'static str>) {
    if let Some((_, retry, hint)) = KNOWN.iter().find(|(known, _, _)| *known == code) {
        return (*retry, Some(*hint).filter(|hint| !hint.is_empty()));
    }
    // What a proxy has to say of itself has one number for everything.
    if let Some((_, hint)) = PROXIES.iter().find(|(part, _)| message.contains(part)) {
        return (Retry::Soon, Some(hint));
    }
    // Not supported, wrong data, a constraint, not let in, no such database, no right or no such thing.
    let is_final = ["0A", "21", "22", "23", "28", "3D", "42"].iter().any(|class| state.starts_with(class));
    (if is_final { Retry::Never } else { Retry::Soon }, None)
}

const PROXIES: &[(&str, &str)] = &[
    ("Max connect timeout reached", "the proxy got no connection to a server in time; its log says why"),
    ("read-only", READ_ONLY),
];
