//! Which numbers are tried again, and what is advised. What servers really say is in `tests/mysql_connect`.

use super::*;

fn heard(code: u16, state: &str, message: &str) -> Error {
    failure("mysql://me@host:3306/db", &Fault::Server(code, state.to_owned(), message.to_owned()))
}

#[test]
fn each_number_has_its_class_and_its_advice() {
    for (code, state, retry, advice) in [
        (1040, "08004", Retry::Soon, "raise max_connections"),
        (1040, "", Retry::Soon, "raise max_connections"),
        (1203, "42000", Retry::Soon, "raise max_connections"),
        (1226, "42000", Retry::Soon, "used up"),
        (1021, "HY000", Retry::Soon, "disk is full"),
        (1114, "HY000", Retry::Soon, "full"),
        (1205, "HY000", Retry::Soon, "holds the lock"),
        (1213, "40001", Retry::Soon, ""),
        (3572, "HY000", Retry::Soon, ""),
        (1290, "HY000", Retry::Soon, "the primary is needed"),
        (1792, "25006", Retry::Soon, "the primary is needed"),
        (1836, "HY000", Retry::Soon, "the primary is needed"),
        (1053, "08S01", Retry::Soon, "shutting down"),
        (1317, "70100", Retry::Soon, ""),
        (1927, "70100", Retry::Soon, "ended the connection"),
        (3169, "HY000", Retry::Soon, "ended the session"),
        (4031, "HY000", Retry::Soon, "wait_timeout"),
        (3032, "HY000", Retry::Soon, "offline"),
        (3168, "HY000", Retry::Soon, "starting up"),
        (1047, "08S01", Retry::Soon, "part of its cluster"),
        (1007, "HY000", Retry::Soon, ""),
        (1050, "42S01", Retry::Soon, ""),
        (1146, "42S02", Retry::Soon, ""),
        (1412, "HY000", Retry::Soon, ""),
        (3100, "HY000", Retry::Soon, "the group"),
        (3101, "40000", Retry::Soon, "the group"),
        (1105, "HY000", Retry::Soon, ""),
        (9999, "HY000", Retry::Soon, ""),
        (3098, "HY000", Retry::Never, "a primary key"),
        (1785, "HY000", Retry::Never, "InnoDB"),
        (1665, "HY000", Retry::Never, "binlog_format"),
        (1044, "42000", Retry::Never, "may not use this database"),
        (1045, "28000", Retry::Never, "user or password is wrong"),
        (1698, "28000", Retry::Never, "user or password is wrong"),
        (1049, "42000", Retry::Never, "create the database"),
        (1046, "3D000", Retry::Never, "name a database"),
        (1130, "HY000", Retry::Never, "from this address"),
        (1129, "HY000", Retry::Never, "flush-hosts"),
        (1251, "08004", Retry::Never, "caching_sha2_password"),
        (1275, "HY000", Retry::Never, "MySQL 4.1"),
        (1524, "HY000", Retry::Never, "has not loaded the plugin"),
        (1820, "HY000", Retry::Never, "expired"),
        (1862, "HY000", Retry::Never, "expired"),
        (3118, "HY000", Retry::Never, "account unlock"),
        (3955, "HY000", Retry::Never, "account unlock"),
        (4151, "HY000", Retry::Never, "account unlock"),
        (3159, "HY000", Retry::Never, "ssl-mode=REQUIRED"),
        (1142, "42000", Retry::Never, "npx mintid setup"),
        (1143, "42000", Retry::Never, "npx mintid setup"),
        (1227, "42000", Retry::Never, "npx mintid setup"),
        (1370, "42000", Retry::Never, "npx mintid setup"),
        (1064, "42000", Retry::Never, "MySQL 8.0 or MariaDB 10.6"),
        (1193, "HY000", Retry::Never, "MySQL 8.0 or MariaDB 10.6"),
        (1305, "42000", Retry::Never, "MySQL 8.0 or MariaDB 10.6"),
        (1054, "42S22", Retry::Never, ""),
        (1062, "23000", Retry::Never, ""),
        (1292, "22007", Retry::Never, ""),
        (1235, "42000", Retry::Never, ""),
    ] {
        let error = heard(code, state, "so it says");
        assert_eq!(error.retry(), retry, "{code}");
        assert_eq!(error.fields().server_code, Some(code.to_string()));
        assert!(error.fields().hint.as_deref().unwrap_or_default().contains(advice), "{code}: {error:?}");
        assert_eq!(error.fields().hint.is_some(), !advice.is_empty(), "{code}: {error:?}");
        assert_eq!(error.message(), "mysql://me@host:3306/db: so it says");
    }
}

#[test]
fn what_a_proxy_says_is_known_by_its_words() {
    let error = heard(9001, "HY000", "Max connect timeout reached while reaching hostgroup 0 after 10000ms");
    assert!(
        error.retry() == Retry::Soon && error.fields().hint.as_ref().is_some_and(|hint| hint.contains("the proxy"))
    );
    let error = heard(1105, "HY000", "the server is running with the read-only option");
    assert!(error.retry() == Retry::Soon && error.fields().hint.as_ref().is_some_and(|hint| hint.contains("primary")));
}

#[test]
fn below_the_protocol() {
    let judge = |error| failure("mysql://me@host:3306/db", &Fault::Io(error));
    let tls = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    for (kind, advice) in [
        (io::ErrorKind::ConnectionRefused, "does the server run"),
        (io::ErrorKind::NotFound, "the path of its Unix socket"),
        (io::ErrorKind::PermissionDenied, "may this user"),
        (io::ErrorKind::TimedOut, "a firewall"),
        (io::ErrorKind::ConnectionReset, ""),
    ] {
        let error = judge(kind.into());
        assert_eq!(error.retry(), Retry::Soon, "{kind}");
        assert!(error.fields().hint.as_deref().unwrap_or_default().contains(advice), "{kind}");
        assert_eq!(error.fields().hint.is_some(), !advice.is_empty(), "{kind}");
    }
    for kind in [io::ErrorKind::UnexpectedEof, io::ErrorKind::BrokenPipe] {
        let error = judge(kind.into());
        assert_eq!(error.message(), "mysql://me@host:3306/db: the server ended the connection");
        assert_eq!((error.retry(), error.fields().hint.as_deref()), (Retry::Soon, None));
    }
    assert_eq!(judge(io::ErrorKind::InvalidInput.into()).retry(), Retry::Never);
    let error = judge(tls(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)));
    assert_eq!(error.retry(), Retry::Never);
    assert!(error.fields().hint.as_ref().is_some_and(|hint| hint.ends_with("as ssl-ca or tls.ca")), "{error:?}");
    let alert = judge(tls(rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired)));
    assert!(alert.retry() == Retry::Never && alert.fields().hint.as_ref().is_some_and(|hint| hint.contains("tls.key")));
}

#[test]
fn what_is_no_server_of_that_kind() {
    let error = failure("mysql://me@host:3306/db", &Fault::Strange);
    assert_eq!(error.retry(), Retry::Never);
    assert!(error.fields().hint.as_ref().is_some_and(|hint| hint.contains("the port of a MySQL")));
    let error = failure("mysql://me@host:3306/db", &Fault::Refused("it wants x".to_owned(), "give it y"));
    assert_eq!((error.message(), error.retry()), ("mysql://me@host:3306/db: it wants x", Retry::Never));
    assert_eq!(error.fields().hint.as_deref(), Some("give it y"));
}

#[test]
fn nothing_that_a_server_says_breaks_a_line() {
    let error = heard(1105, "HY000", &format!("a\nb\u{7}{}", "x".repeat(1000)));
    assert!(error.message().starts_with("mysql://me@host:3306/db: a b x"));
    assert!(error.message().chars().count() < 400);
}
