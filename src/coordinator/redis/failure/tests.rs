//! Which words are tried again, and what is advised. What servers really say is in `tests/redis_connect`.

use super::*;

/// As a server says it.
fn heard(text: &str) -> Error {
    let (code, detail) = text.split_once(' ').unwrap_or((text, ""));
    said("redis://host:6379/0", code, detail)
}

#[test]
fn each_word_has_its_class_and_its_advice() {
    for (text, retry, advice) in [
        ("LOADING Redis is loading the dataset in memory", Retry::Soon, "reading its data"),
        ("READONLY You can't write against a read only replica.", Retry::Soon, "the master is needed"),
        ("MASTERDOWN Link with MASTER is down", Retry::Soon, "without its master"),
        ("CLUSTERDOWN The cluster is down", Retry::Soon, "cluster is down"),
        ("TRYAGAIN Multiple keys request during rehashing of slot", Retry::Soon, "its slots"),
        ("MOVED 1 127.0.0.1:7000", Retry::Soon, "cluster=true"),
        ("ASK 1 127.0.0.1:7000", Retry::Soon, "cluster=true"),
        ("BUSY Redis is busy running a script.", Retry::Soon, "keeps the server busy"),
        ("NOREPLICAS Not enough good replicas to write.", Retry::Soon, "min-replicas-to-write"),
        ("UNBLOCKED force unblock from blocking operation", Retry::Soon, "become a replica"),
        ("MISCONF Redis is configured to save RDB snapshots", Retry::Soon, "data to disk"),
        ("OOM command not allowed when used memory > 'maxmemory'.", Retry::Soon, "raise maxmemory"),
        ("NOSCRIPT No matching script.", Retry::Soon, ""),
        ("SOMETHING new", Retry::Soon, ""),
        ("ERR max number of clients reached", Retry::Soon, "maxclients"),
        ("ERR upstream failure", Retry::Soon, ""),
        ("NOAUTH Authentication required.", Retry::Never, "asks for a password"),
        ("WRONGPASS invalid username-password pair or user is disabled.", Retry::Never, "user or password is wrong"),
        ("NOPERM User me has no permissions to run the 'evalsha' command", Retry::Never, "+eval +evalsha"),
        ("NOPERM ACL failure in script: User me has no permissions to run the 'hset' command", Retry::Never, "+hset"),
        ("ERR ACL failure in script: User me has no permissions to run the 'hset' command", Retry::Never, "+hset"),
        (
            "ERR The user executing the script can't run this command script: 01, on @user_script:1.",
            Retry::Never,
            "+hset",
        ),
        ("ERR Script killed by user with SCRIPT KILL. script: 01, on @user_script:1.", Retry::Soon, ""),
        ("ERR user_script:1: Script attempted to access nonexistent global", Retry::Never, "Redis 6.2 or newer"),
        ("DENIED Redis is running in protected mode", Retry::Never, "requirepass"),
        ("CROSSSLOT Keys in request don't hash to the same slot", Retry::Never, "several slots"),
        ("WRONGTYPE Operation against a key holding the wrong kind of value", Retry::Never, "another namespace"),
        (
            "ERR AUTH <password> called without any password configured for the default user.",
            Retry::Never,
            "leave it out",
        ),
        ("ERR DB index is out of range", Retry::Never, "no database of that number"),
        ("ERR SELECT is not allowed in cluster mode", Retry::Never, "usually has only 0"),
        ("ERR unknown command 'EVALSHA', with args beginning with:", Retry::Never, "Redis 6.2 or newer"),
    ] {
        let error = heard(text);
        assert_eq!(error.retry(), retry, "{text}");
        assert_eq!(error.fields().server_code.as_deref(), text.split(' ').next(), "{text}");
        assert!(error.fields().hint.as_deref().unwrap_or_default().contains(advice), "{text}: {error:?}");
        assert_eq!(error.fields().hint.is_some(), !advice.is_empty(), "{text}: {error:?}");
        assert_eq!(error.message(), format!("redis://host:6379/0: {text}"));
    }
}

#[test]
fn what_a_script_of_an_old_server_heard_is_found() {
    let error = heard(
        "ERR Error running script (call to f_0123): @user_script:1: @user_script: 1: -READONLY You can't write against \
         a read only replica.",
    );
    assert_eq!((error.fields().server_code.as_deref(), error.retry()), (Some("READONLY"), Retry::Soon));
    let error = heard("ERR Error running script (call to f_0123): @user_script:1: user_script:1: attempt to index nil");
    assert_eq!((error.fields().server_code.as_deref(), error.retry()), (Some("ERR"), Retry::Never));
}

#[test]
fn below_the_protocol() {
    let judge = |error| within_tls("redis://host:6379/0", &error);
    let tls = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let reset = judge(io::Error::from(io::ErrorKind::ConnectionReset));
    assert_eq!((reset.retry(), reset.fields().hint.as_deref()), (Retry::Soon, None));
    let certificate = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
    let error = judge(tls(certificate));
    assert!(
        error.retry() == Retry::Never && error.fields().hint.as_ref().is_some_and(|hint| hint.ends_with("as tls.ca"))
    );
    let error = judge(tls(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType)));
    assert!(error.retry() == Retry::Never && error.fields().hint.as_ref().is_some_and(|hint| hint.contains("redis:")));
    let dropped = failure("redis://host:6379/0", &RedisError::from(io::Error::from(io::ErrorKind::BrokenPipe)));
    assert_eq!(
        (dropped.retry(), dropped.message()),
        (Retry::Soon, "redis://host:6379/0: the server ended the connection")
    );
    let alert = tls(rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired));
    let error = failure("redis://host:6379/0", &RedisError::from(alert));
    assert!(error.retry() == Retry::Never && error.fields().hint.as_ref().is_some_and(|hint| hint.contains("tls.key")));
    let other = Arc::new(io::Error::other("x"));
    assert_eq!(failure("redis://host:6379/0", &RedisError::from(io::Error::other(other))).retry(), Retry::Soon);
}

#[test]
fn nothing_that_a_server_says_breaks_a_line() {
    let error = made("redis://host:6379/0", &format!("a\nb\u{7}{}", "x".repeat(1000)), Some("ERR"), None);
    assert!(error.message().starts_with("redis://host:6379/0: a b x"));
    assert!(error.message().chars().count() < 400);
}
