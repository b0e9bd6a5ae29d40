//! What a server's words mean, and what to do about them.

use crate::coordinator::tls::Words;
use crate::error::Retry;

/// What belongs to TLS is called, here and at the server.
pub(super) const TLS: Words = Words {
    root: "tls.ca",
    identity: "tls.cert and tls.key",
    chain_only: "ssl_check_hostname=false",
    servers_root: "tls-ca-cert-file",
};

/// About a server that does not speak TLS.
pub(super) const NO_TLS: &str = "does that port speak TLS? Without it, the scheme is redis:";

/// What a user must be allowed.
const RIGHTS: &str = "the user needs: ~mintid:* +eval +evalsha +hget +hmget +hgetall +hkeys +hset +hsetnx +hdel +hincrby \
                      +exists +time +info, +wait and +waitaof to wait for replicas and the append-only file, +select for another \
                      database than 0 (npx mintid setup --print)";

/// Where the server does not tell its run ID, or not to this user.
pub(in crate::coordinator::redis) const DURABLE: &str = "allow +info; or set incarnation: 'durable', if the server never forgets what it has confirmed: nobody could tell \
     whether it did (ACL SETUSER <user> +info)";

/// A server that is too old for the hash of others.
pub(in crate::coordinator::redis) const HSETEX: &str =
    "registry=nononcense needs the command HSETEX: Redis 8.0 or newer, or Valkey 9.0 or newer";

/// The lines that give a user its rights, for an operator. A server without WAITAOF refuses the second one, and needs it not.
pub(in crate::coordinator::redis) fn acl_line(keys: &[String]) -> String {
    let more = if keys.len() > 1 { " +hsetex" } else { "" };
    let keys = keys.iter().map(|key| format!("~{key}")).collect::<Vec<_>>().join(" ");
    format!(
        "ACL SETUSER mintid on >password {keys} resetchannels -@all +eval +evalsha +hget +hmget +hgetall +hkeys +hset +hsetnx \
         +hdel +hincrby +exists +time +info +wait +role +select +client|setname{more}\nACL SETUSER mintid +waitaof"
    )
}

/// By the error's first word; the rest of it decides only where that leaves it open.
pub(super) fn of_server(code: &str, detail: &str) -> (Retry, Option<&'static str>) {
    let never = |hint| (Retry::Never, Some(hint));
    let soon = |hint| (Retry::Soon, Some(hint));
    match code {
        "NOAUTH" => never("the server asks for a password: redis://:password@host, or redis://user:password@host"),
        "WRONGPASS" => never(
            "user or password is wrong, or the user is disabled; '/ @ # : ? %' in a password are best percent-encoded, \
             and a password alone is written redis://:password@host",
        ),
        "NOPERM" => never(RIGHTS),
        "DENIED" => never("the server is in protected mode: give it a password (requirepass) or a user of its own"),
        "CROSSSLOT" => never("the keys of a script lie in several slots; this is a mistake of mintid's"),
        "MOVED" | "ASK" => {
            soon("the cluster has moved the key; without cluster=true in the address it cannot be followed")
        }
        "WRONGTYPE" => never("another program uses the key; give mintid another namespace or database"),
        "LOADING" => soon("the server is still reading its data"),
        "READONLY" => soon("it is a replica; the master is needed: name that, or the Sentinels"),
        "MASTERDOWN" => soon("it is a replica without its master"),
        "CLUSTERDOWN" => soon("a part of the cluster is down"),
        "TRYAGAIN" => soon("the cluster is at work on its slots"),
        "BUSY" => soon("a script of somebody's keeps the server busy"),
        "NOREPLICAS" => soon("fewer replicas follow than the server wants (min-replicas-to-write)"),
        "UNBLOCKED" => soon("the server has become a replica"),
        "MISCONF" => soon("the server cannot write its data to disk; its log says why"),
        "OOM" => soon(
            "the server's memory is full: raise maxmemory, or have it evict what may go (maxmemory-policy volatile-…)",
        ),
        "ERR" => of_words(detail),
        _ => (Retry::Soon, None),
    }
}

/// What stands behind `ERR` and stays so until somebody changes something.
const FINAL: &[(&str, &str)] = &[
    ("ACL failure", RIGHTS),
    ("The user executing the script", RIGHTS),
    ("without any password", "the server has no password for this user: leave it out of the address"),
    ("no password is set", "the server has no password: leave it out of the address"),
    ("invalid password", "the password is wrong; '/ @ # : ? %' in a password are best percent-encoded"),
    ("wrong number of arguments for 'auth'", "Redis 6.2 or newer is needed"),
    ("DB index", "the server has no database of that number (databases); a cluster usually has only 0"),
    ("invalid DB", "the server has no database of that number (databases); a cluster usually has only 0"),
    ("SELECT is not allowed", "the server has no database of that number (databases); a cluster usually has only 0"),
    ("unknown command", "Redis 6.2 or newer is needed, one that runs scripts"),
    ("nknown subcommand", "Redis 6.2 or newer is needed"),
    ("Error compiling script", "Redis 6.2 or newer is needed"),
    ("Unknown Redis", "Redis 6.2 or newer is needed"),
    ("user_script:", "Redis 6.2 or newer is needed"),
    ("Protocol error", "is that the port of a Redis or Valkey server?"),
    ("Cluster support disabled", "it is no cluster: leave cluster=true out of the address"),
];

fn of_words(detail: &str) -> (Retry, Option<&'static str>) {
    if detail.contains("max number of clients") {
        return (Retry::Soon, Some("raise maxclients, or have other programs close connections"));
    }
    // Behind it stands which script and which line.
    let detail = detail.split_once(" script: ").map_or(detail, |(detail, _)| detail);
    match FINAL.iter().find(|(part, _)| detail.contains(part)) {
        Some((_, hint)) => (Retry::Never, Some(hint)),
        None => (Retry::Soon, None),
    }
}
