//! What URLs and parameters mean, and that no password is shown when they mean nothing.

use tokio_postgres::config::ChannelBinding;

use super::*;
use crate::coordinator::address::parameters::known;
use crate::coordinator::tls::{Encrypt, Roots, Verify};
use crate::error::{Code, Retry};

fn parse(url: &str) -> Result<Settings, Error> {
    Settings::parse(url, &TlsOptions::default())
}

fn good(url: &str) -> Settings {
    parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn of(pairs: &[(&str, &str)]) -> Result<Settings, Error> {
    let owned: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Settings::from_parameters(&owned, &TlsOptions::default())
}

fn password(settings: &Settings) -> Option<&str> {
    settings.password.as_ref().map(|password| password.as_str())
}

#[test]
fn the_forms_of_libpq() {
    for (url, address) in [
        ("postgres://me@db/app", "postgres://me@db:5432/app"),
        ("postgresql://me:pw@db", "postgres://me@db:5432/me"),
        ("POSTGRES://me:pw@DB.Example.COM:6000/App\n", "postgres://me@db.example.com:6000/App"),
        ("postgres://me@/app", "postgres://me@localhost:5432/app"),
        ("postgres:///app?user=me", "postgres://me@localhost:5432/app"),
        ("postgres://?user=me", "postgres://me@localhost:5432/me"),
        ("postgres://db?user=me&dbname=app", "postgres://me@db:5432/app"),
        ("postgres://me@[::1]:6000/app", "postgres://me@[::1]:6000/app"),
        ("postgres://me@[0:0:0:0:0:0:0:1]/app", "postgres://me@[::1]:5432/app"),
        ("postgres://me@h1:5432,h2:5433/app", "postgres://me@h1:5432,h2:5433/app"),
        ("postgres://me@h1,h2:5433,[::1]/app", "postgres://me@h1:5432,h2:5433,[::1]:5432/app"),
        ("postgres://me@/app?host=h1,h2&port=1,2", "postgres://me@h1:1,h2:2/app"),
        ("postgres://me@/app?host=h1,h2&port=7", "postgres://me@h1:7,h2:7/app"),
        ("postgres://me@old/app?host=new", "postgres://me@new:5432/app"),
        ("postgres://me@name/app?hostaddr=10.0.0.1", "postgres://me@10.0.0.1:5432/app"),
        ("postgres://me@db/app?schema=one", "postgres://me@db:5432/app?schema=one"),
        ("postgres://me%40corp:pw@db/my%20app%0A", "postgres://me%40corp@db:5432/my%20app%0A"),
    ] {
        assert_eq!(good(url).address(), address, "{url}");
    }
}

#[cfg(unix)]
#[test]
fn unix_sockets_in_both_spellings_are_one_address() {
    let address = "postgres://me@/var/run/postgresql:5433/app";
    for url in [
        "postgres://me:pw@%2Fvar%2Frun%2Fpostgresql:5433/app",
        "postgres://me:pw@%2fvar%2frun%2fpostgresql%2f:5433/app",
        "postgres://me:pw@/app?host=/var/run/postgresql&port=5433",
        "postgres:///app?host=%2Fvar%2Frun%2Fpostgresql&port=5433&user=me",
        "postgres://me:pw@localhost:5433/app?host=/var/run/postgresql",
    ] {
        assert_eq!(good(url).address(), address, "{url}");
    }
    assert_eq!(good("postgres://me@/app?host=/cloudsql/a:b:c").address(), "postgres://me@/cloudsql/a:b:c:5432/app");
}

/// Each of them pasted as it is, and encoded; with a database and parameters, and without.
#[test]
fn passwords_are_read_whether_encoded_or_not() {
    for secret in [
        "plain",
        "a/b",
        "/",
        "a@b",
        "@",
        "@@/",
        "a#b",
        "a:b",
        ":",
        "a%b",
        "100%",
        "%zz",
        "a?b",
        "?",
        "a/b@c",
        "a@b/c",
        "a@b/c@d",
        "12/x",
        "12/3@4/5",
        "a?b=c",
        "a@b?c",
        "a=b&c",
        "p@ss:w/o#r%d?",
        "[a]",
        "a,b",
        "ä€@😀",
        " a b ",
        "a%ffb",
        "1@2:3/4",
        "+",
    ] {
        let encoded = secret.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02x}"));
        for tail in
            ["db", "db/app", "db:5433/app?sslmode=disable", "db?application_name=me", "[::1]:1/app", "h1:1,h2/app"]
        {
            for written in [secret, &encoded] {
                let url = format!("postgres://me:{written}@{tail}");
                let settings = good(&url);
                assert_eq!((settings.user.as_str(), password(&settings)), ("me", Some(secret)), "{url}");
                assert_eq!(settings.address(), good(&format!("postgres://me@{tail}")).address(), "{url}");
                assert!(!format!("{settings:?}").contains(&format!("me:{secret}")), "{url}");
            }
        }
    }
}

#[test]
fn parameters_may_hold_what_a_password_may() {
    let settings = good("postgres://me:pw@db/app?application_name=a@b/c:d&options=-c%20search_path%3Dx");
    assert_eq!(
        (settings.application_name.as_str(), settings.options.as_deref()),
        ("a@b/c:d", Some("-c search_path=x"))
    );
    assert_eq!((password(&settings), settings.address().as_str()), (Some("pw"), "postgres://me@db:5432/app"));
    assert_eq!(good("postgres://db/app?user=me@corp").user, "me@corp");
    assert_eq!(password(&good("postgres://me:first@db?password=a%2Fb@c")), Some("a/b@c"));
    assert_eq!(password(&good("postgres://me:@db")), None);
}

/// The password of each is `s3cret` with something around it.
#[test]
fn what_cannot_be_read_is_refused_and_shows_no_password() {
    for (url, expected) in [
        ("mysql://me:s3cret@db/app", "expected postgres://"),
        ("me:s3cret@db/app", "expected postgres://"),
        ("postgres:me:s3cret@db", "expected postgres://"),
        ("postgres://me:s3cret@db:port/app", "a port is not a number"),
        ("postgres://me:s3cret@db:70000/app", "a port is not a number"),
        ("postgres://me:s3cret", "a port is not a number"),
        ("postgres://me:s3cret@[::1/app", "a '[' of a host"),
        ("postgres://me:s3cret@[::1]5/app", "something else than a port"),
        ("postgres://me:s3cret@d b/app", "a character that host names do not have"),
        ("postgres://me:s3cret@db/a/b", "the database's name"),
        ("postgres://me:s3cret@db/app?sslmode", "has no '='"),
        ("postgres://me:s3cret@db/app?a b=1", "is no word"),
        ("postgres://me:s3cret@db/app?sslmod=require", "unknown parameter \"sslmod\"; did you mean sslmode?"),
        ("postgres://me:s3cret@db/app?SSLMODE=require", "did you mean sslmode?"),
        ("postgres://me:s3cret@db/app?schemas=x", "did you mean schema?"),
        ("postgres://me:s3cret@db/app?utterly_new=1", "unknown parameter \"utterly_new\""),
        ("postgres://me:s3cret@db/app?sslcrl=/x", "the parameter sslcrl is not supported"),
        ("postgres://:s3cret@db/app", "the user is missing"),
        ("postgres://db/app?password=s3cret", "the user is missing"),
        // Two readings: the host is db, or b.
        ("postgres://me:s3cret@db/app?new=a@b", "more than one way"),
        ("postgres://me:s3cret@x?y=1@db", "more than one way"),
        ("postgres://me:s3cret@db/app?sslmode=s@3cret", "expected one of disable"),
        ("postgres://me:s3cret@db/app?connect_timeout=s3:cret", "connect_timeout: expected a whole number"),
        ("postgres://me:s3cret@db/app?hostaddr=db", "hostaddr: expected an IP address, found \"db\""),
        ("postgres://me:s3cret@db:0/app", "port: expected a number from 1 to 65535, found \"0\""),
        ("postgres://me:s3cret@a,b,c/app?port=1,2", "2 ports for 3 hosts"),
        ("postgres://me:s3cret@a,b/app?hostaddr=1.1.1.1", "2 hosts and 1 hostaddr"),
        ("postgres://me:s3cret@db/app?host=a/b", "host: expected host names"),
        ("postgres://me:s3cret@db/app?target_session_attrs=standby", "a lease needs a server that takes writes"),
        ("postgres://me:s3cret@db/app?target_session_attrs=x", "one of any, read-write, primary"),
        ("postgres://me:s3cret@db/app?sslmode=disable&channel_binding=require", "channel_binding=require needs TLS"),
        ("postgres://me:s3cret@db/app?sslnegotiation=direct", "sslnegotiation=direct needs sslmode"),
        ("postgres://me:s3cret@db/app?sslcert=/c", "expected a key beside it"),
        ("postgres://me:s3cret@db/app?sslkey=/k", "expected a certificate beside it"),
    ] {
        let error = parse(url).unwrap_err();
        assert_eq!((error.code(), error.retry()), (Code::Config, Retry::Never), "{url}");
        assert_eq!(error.fields().option, Some("coordinator"), "{url}");
        assert!(error.message().contains(expected), "{url}: {error}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("3cret") && !shown.contains("s3"), "{url}: {shown}");
    }
}

#[test]
fn no_piece_of_a_password_is_shown_wherever_it_breaks() {
    // Without the last '@', or with a port that is none, nothing can be read; the pieces begin with "PIECE".
    for secret in [
        "PIECEa/PIECEb",
        "PIECEa@PIECEb",
        "PIECEa?PIECEb=PIECEc",
        "PIECEa#PIECEb",
        "PIECEa:PIECEb",
        "PIECEa@x?PIECEb=1",
    ] {
        for tail in
            ["@db:x/app", "@db/a/b", "@d b", "@db/app?sslmode", "@[x", "@@", "@db/app?sslmode=no@x", "@db?new=1@2"]
        {
            let url = format!("postgres://me:{secret}{tail}");
            match parse(&url) {
                Ok(settings) => assert!(!format!("{settings:?} {}", settings.address()).contains("PIECE"), "{url}"),
                Err(error) => assert!(!format!("{error} {error:?}").contains("PIECE"), "{url}: {error}"),
            }
        }
    }
}

#[test]
fn the_object_form_takes_values_as_they_are() {
    let given = [
        ("host", "db"),
        ("port", "6000"),
        ("username", "me"),
        ("password", "a%20b@"),
        ("database", "app"),
        ("max", "3"),
    ];
    let settings = of(&given).unwrap();
    assert_eq!((settings.address().as_str(), password(&settings)), ("postgres://me@db:6000/app", Some("a%20b@")));
    assert_eq!(settings.address(), good("postgresql://me:x@DB:6000/app").address());
    let error = of(&[("user", "me"), ("passwort", "s3cret")]).unwrap_err();
    assert_eq!(error.message(), "coordinator: unknown parameter \"passwort\"; did you mean password?");
    assert!(of(&[("host", "db")]).unwrap_err().message().contains("the user is missing"));
}

#[test]
fn what_other_drivers_leave_in_a_url_is_known() {
    for url in [
        // Prisma
        "postgres://me@db/app?schema=s&connection_limit=5&pool_timeout=2&pgbouncer=true&statement_cache_size=0&socket_timeout=3",
        // postgres.js, JDBC, node-postgres, Rails
        "postgres://me@db/app?search_path=s&max=10&idle_timeout=20&max_lifetime=1800&prepare=false",
        "postgres://me@db/app?currentSchema=%22s%22,other&prepareThreshold=0&reWriteBatchedInserts=true&loginTimeout=3",
        "postgres://me@db/app?currentSchema=%22$user%22,s&uselibpqcompat=true&statement_timeout=5&client_encoding=utf8",
        "postgres://me@db/app?schema_search_path=s&pool=5&prepared_statements=false&supa=base-pooler.x",
    ] {
        let settings = good(url);
        assert_eq!(
            (settings.schema(), settings.address().as_str()),
            ("s", "postgres://me@db:5432/app?schema=s"),
            "{url}"
        );
    }
    assert_eq!(good("postgres://me@db/app?ApplicationName=x").application_name, "x");
    assert_eq!(good("postgres://me@db/app").application_name, "mintid");
    assert_eq!(good("postgres://me@db/app").schema(), "public");
    assert_eq!(good("postgres://me@db/app?schema=public").address(), good("postgres://me@db/app").address());
}

#[test]
fn names_are_listed_once() {
    let mut names: Vec<_> = known::<parameters::Key>().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_server_that_takes_writes_is_looked_for_where_there_is_a_choice() {
    for (url, expected) in [
        ("postgres://me@db", false),
        ("postgres://me@db?target_session_attrs=read-write", true),
        ("postgres://me@db?target_session_attrs=primary", true),
        ("postgres://me@a,b", true),
        ("postgres://me@a,b?target_session_attrs=any", true),
    ] {
        assert_eq!(good(url).read_write, expected, "{url}");
    }
}

#[test]
fn times_and_keepalives() {
    let settings = good("postgres://me@db");
    let standard = Keepalives { idle: Duration::from_secs(15), interval: Duration::from_secs(5), count: 3 };
    assert_eq!((settings.connect_timeout, settings.keepalives), (None, Some(standard)));
    assert_eq!(settings.tcp_user_timeout, Some(Duration::from_secs(30)));
    let settings = good(
        "postgres://me@db?connect_timeout=7&tcp_user_timeout=1500&keepalives_idle=1&keepalives_interval=2&keepalives_count=4",
    );
    let given = Keepalives { idle: Duration::from_secs(1), interval: Duration::from_secs(2), count: 4 };
    assert_eq!((settings.connect_timeout, settings.keepalives), (Some(Duration::from_secs(7)), Some(given)));
    assert_eq!(settings.tcp_user_timeout, Some(Duration::from_millis(1500)));
    let settings = good("postgres://me@db?connect_timeout=-1&tcp_user_timeout=0&keepalives=0");
    assert_eq!((settings.connect_timeout, settings.keepalives, settings.tcp_user_timeout), (None, None, None));
}

/// What a query means for TLS: encrypted or not, what is verified, and with which roots.
#[test]
fn sslmode_and_what_belongs_to_it() {
    use Encrypt::{Always, IfOffered, Never};
    use Verify::{Chain, Full, Nothing};
    for (query, expected) in [
        ("", (IfOffered, Nothing, "system")),
        ("sslmode=disable", (Never, Nothing, "system")),
        ("sslmode=allow", (IfOffered, Nothing, "system")),
        ("sslmode=prefer", (IfOffered, Nothing, "system")),
        ("sslmode=require", (Always, Nothing, "system")),
        ("sslmode=no-verify", (Always, Nothing, "system")),
        ("sslmode=verify-full", (Always, Full, "system")),
        // Roots that everybody can get a certificate from say nothing without a name.
        ("sslmode=verify-ca", (Always, Full, "system")),
        ("sslmode=require&sslrootcert=system", (Always, Full, "system")),
        ("sslrootcert=system", (Always, Full, "system")),
        ("sslrootcert=/ca", (Always, Chain, "/ca")),
        ("sslmode=prefer&sslrootcert=/ca", (IfOffered, Nothing, "/ca")),
        ("sslmode=require&sslrootcert=/ca", (Always, Chain, "/ca")),
        ("sslmode=verify-ca&sslrootcert=/ca", (Always, Chain, "/ca")),
        ("sslmode=verify-full&sslrootcert=/ca", (Always, Full, "/ca")),
        ("sslmode=no-verify&sslrootcert=/ca", (Always, Nothing, "/ca")),
        ("ssl=true", (Always, Nothing, "system")),
        ("ssl=false", (Never, Nothing, "system")),
        ("ssl=verify-full", (Always, Full, "system")),
        ("ssl=true&sslmode=disable", (Never, Nothing, "system")),
        // Prisma: its sslcert is the root.
        ("sslmode=require&sslaccept=strict", (Always, Full, "system")),
        ("sslaccept=strict", (Always, Full, "system")),
        ("sslmode=require&sslaccept=strict&sslcert=/ca", (Always, Full, "/ca")),
        ("sslmode=require&sslaccept=accept_invalid_certs&sslcert=/ca", (Always, Nothing, "/ca")),
    ] {
        let tls = good(&format!("postgres://me@db?{query}")).tls;
        let roots = match &tls.roots {
            Roots::System => "system".to_owned(),
            Roots::Given(sources) => format!("{sources:?}").replace("[sslrootcert ", "").replace(']', ""),
        };
        assert_eq!((tls.encrypt, tls.verify, roots.as_str()), expected, "{query}");
        assert!(tls.identity.is_none(), "{query}");
    }
    let tls =
        good("postgres://me@db?sslmode=require&sslcert=/c&sslkey=/k&sslsni=0&ssl_min_protocol_version=TLSv1.3").tls;
    assert!(tls.identity.is_some() && !tls.sni && tls.only_newest);
    let binding = |query| good(&format!("postgres://me@db?{query}")).channel_binding;
    assert_eq!(binding("channel_binding=require"), ChannelBinding::Require);
    assert_eq!((binding("channelBinding=disable"), binding("")), (ChannelBinding::Disable, ChannelBinding::Prefer));
}

#[test]
fn the_option_tls_has_the_last_word() {
    use Encrypt::{Always, IfOffered, Never};
    use Verify::{Chain, Full, Nothing};
    let options = |reject, servername: Option<&str>| {
        let mut options = TlsOptions::default();
        (options.reject_unauthorized, options.servername) = (reject, servername.map(str::to_owned));
        options
    };
    for (query, reject, servername, expected) in [
        ("", Some(true), None, (Always, Full)),
        ("", Some(false), None, (Always, Nothing)),
        ("sslmode=verify-full", Some(false), None, (Always, Nothing)),
        ("sslmode=require", Some(true), None, (Always, Full)),
        ("sslmode=disable", Some(false), None, (Never, Nothing)),
        ("", None, Some("name"), (Always, Full)),
        ("sslmode=prefer", None, Some("name"), (Always, Full)),
        ("sslmode=require", None, Some("name"), (Always, Nothing)),
        ("sslmode=require&sslrootcert=/ca", None, Some("name"), (Always, Chain)),
        ("", None, None, (IfOffered, Nothing)),
    ] {
        let settings = Settings::parse(&format!("postgres://me@db?{query}"), &options(reject, servername)).unwrap();
        assert_eq!((settings.tls.encrypt, settings.tls.verify), expected, "{query} {reject:?} {servername:?}");
    }
    let error = Settings::parse("postgres://me@db?sslmode=disable", &options(Some(true), None)).unwrap_err();
    assert_eq!(error.fields().option, Some("tls"));
}

#[test]
fn texts_in_pem_are_looked_at_before_anything_is_connected() {
    let mut options = TlsOptions::default();
    options.ca = vec!["no certificate".to_owned()];
    let error = Settings::parse("postgres://me@db", &options).unwrap_err();
    assert_eq!(error.fields().option, Some("tls"));
    assert!(error.message().starts_with("tls.ca: expected certificates in PEM"), "{error}");
    options.ca.clear();
    options.key = Some("s3cret".to_owned());
    let error = Settings::parse("postgres://me@db", &options).unwrap_err();
    assert_eq!(error.message(), "tls.key: expected a certificate beside it");
    assert!(!format!("{options:?} {error:?}").contains("s3cret"));
}
