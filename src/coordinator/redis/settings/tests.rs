//! What URLs and parameters mean, and that no password is shown when they mean nothing.

use super::*;
use crate::coordinator::address::parameters::known;
use crate::coordinator::tls::{Roots, Verify};
use crate::error::Code;

fn good(url: &str) -> Settings {
    Settings::parse(url, &TlsOptions::default()).unwrap_or_else(|error| panic!("{url}: {error}"))
}

fn bad(url: &str) -> Error {
    let error = Settings::parse(url, &TlsOptions::default()).expect_err(url);
    assert_eq!((error.code(), error.fields().option), (Code::Config, Some("coordinator")), "{url}");
    error
}

fn of(given: &[(&str, &str)]) -> Result<Settings, Error> {
    let owned: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Settings::from_parameters(&owned, &TlsOptions::default())
}

fn login(settings: &Settings) -> (Option<&str>, Option<&str>) {
    let Login { user, password } = &settings.login;
    (user.as_deref(), password.as_ref().map(|password| password.as_str()))
}

#[test]
fn one_place_has_one_spelling() {
    for (url, address) in [
        ("redis://", "redis://localhost:6379/0"),
        ("redis://Host", "redis://host:6379/0"),
        ("REDIS://host:7000/", "redis://host:7000/0"),
        ("valkey://host/3", "redis://host:6379/3"),
        ("redis://host?db=3", "redis://host:6379/3"),
        ("redis://?host=host&port=7&database=2", "redis://host:7/2"),
        ("redis://:pw@host", "redis://host:6379/0"),
        ("redis://me:pw@host/1", "redis://me@host:6379/1"),
        ("redis://me@host", "redis://me@host:6379/0"),
        ("rediss://host", "rediss://host:6379/0"),
        ("valkeys://host", "rediss://host:6379/0"),
        ("redis://host?tls=true", "rediss://host:6379/0"),
        ("redis://[::1]:7000/1", "redis://[::1]:7000/1"),
        ("unix:///run/redis.sock", "redis+unix:///run/redis.sock?db=0"),
        ("redis+unix:///run/redis.sock?db=2", "redis+unix:///run/redis.sock?db=2"),
        ("redis-socket://me:pw@/run/redis.sock?database=2", "redis+unix://me@/run/redis.sock?db=2"),
        ("valkey+unix:///run/r%20s", "redis+unix:///run/r%20s?db=0"),
        ("redis+cluster://a,b:7000", "redis+cluster://a:6379,b:7000/0"),
        ("rediss://me:pw@a,b:7000?cluster=true", "rediss+cluster://me@a:6379,b:7000/0"),
        ("redis+sentinel://a,b:7000/mymaster", "redis+sentinel://a:26379,b:7000/mymaster/0"),
        ("redis-sentinel://me:pw@a/mymaster/2", "redis+sentinel://me@a:26379/mymaster/2"),
        ("redis-sentinel://a/2?sentinelMasterId=mymaster", "redis+sentinel://a:26379/mymaster/2"),
        ("redis-sentinel://a,b#mymaster", "redis+sentinel://a:26379,b:26379/mymaster/0"),
        ("redis://a/2?master_name=mymaster", "redis+sentinel://a:26379/mymaster/2"),
        ("rediss+sentinel://a/my.master", "rediss+sentinel://a:26379/my.master/0"),
    ] {
        assert_eq!(good(url).address(), address, "{url}");
        assert_eq!(good(&good(url).address()).address(), address, "{url}");
    }
}

#[test]
fn passwords_are_read_whether_encoded_or_not() {
    let secrets = [
        "plain",
        "a/b",
        "/",
        "a@b",
        "@",
        "@@/",
        "a#b",
        "a#",
        "#insecure",
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
        "x#y@z/1",
    ];
    for secret in secrets {
        let encoded = secret.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
        for written in [secret, &encoded] {
            for (head, user) in [("redis://me", Some("me")), ("rediss://", None), ("redis+sentinel://me", Some("me"))] {
                let name = if head.contains("sentinel") { "/mymaster" } else { "" };
                for tail in ["", "/1", "?connectionName=x"] {
                    let url = format!("{head}:{written}@host:7000{name}{tail}");
                    let settings = good(&url);
                    assert_eq!(login(&settings), (user, Some(secret)), "{url}");
                    assert!(settings.address().contains("host:7000"), "{url}");
                }
            }
            let settings = good(&format!("unix://me:{written}@/run/redis.sock?db=1"));
            assert_eq!(settings.address(), "redis+unix://me@/run/redis.sock?db=1", "{secret}");
        }
    }
    assert_eq!(login(&good("redis://host?password=a@b&username=me")), (Some("me"), Some("a@b")));
    assert_eq!(login(&good("redis://me@host")), (Some("me"), None));
}

#[test]
fn what_cannot_be_read_is_refused_and_shows_no_secret() {
    for (url, part) in [
        ("http://host", "expected redis://"),
        ("host:6379", "expected redis://"),
        ("redis+what://host", "expected redis://"),
        ("unix+sentinel://host/name", "expected redis://"),
        ("redis://me:s3cret@host/db", "a database's number"),
        ("redis://me:s3cret@host/0/key", "a database's number"),
        ("redis://me:s3cret@host:x", "a port"),
        ("redis://me:s3cret@host#what", "'#'"),
        ("redis://me:s3cret@host?sockettimeout=1", "did you mean socketTimeout?"),
        ("redis://me:s3cret@host?keyPrefix=x", "keyPrefix is not supported"),
        ("redis://me:s3cret@a,b", "2 hosts; expected one"),
        ("redis+sentinel://me:s3cret@a", "name=mymaster"),
        ("redis+sentinel://me:s3cret@a/1", "name=mymaster"),
        ("redis+cluster://me:s3cret@a?name=x", "not both"),
        ("redis+unix://me:s3cret@host", "path of a Unix socket"),
        ("redis+unix:///run/s3cret@redis.sock", "path of a Unix socket"),
        ("redis+unix:///run/redis.sock?tls=true", "without TLS"),
        ("redis+unix:///run/redis.sock?cluster=true", "of one server"),
        ("redis://me:s3cret@host?db=-", "a whole number"),
        ("redis://me:s3cret@host?tls=maybe", "expected one of true"),
        ("redis+sentinel://me:s3cret@a/x?sentinelTls=true", "needs TLS"),
    ] {
        let error = bad(url);
        assert!(error.message().contains(part), "{url}: {error}");
        assert!(!format!("{error:?}").contains("s3c"), "{url}: {error:?}");
    }
}

#[test]
fn the_object_form_takes_values_as_they_are() {
    let settings = of(&[
        ("host", "db"),
        ("port", "7000"),
        ("username", "me"),
        ("password", "a%20b@"),
        ("db", "4"),
        ("maxRetriesPerRequest", "3"),
        ("connectionName", "a b"),
        ("connectTimeout", "1500"),
    ]);
    let settings = settings.unwrap();
    assert_eq!((settings.address().as_str(), login(&settings).1), ("redis://me@db:7000/4", Some("a%20b@")));
    assert_eq!((settings.client_name.as_str(), settings.connect_timeout), ("ab", Some(Duration::from_millis(1500))));
    let settings = of(&[("path", "/run/redis.sock"), ("db", "1")]).unwrap();
    assert_eq!(settings.address(), "redis+unix:///run/redis.sock?db=1");
    let settings = of(&[("nodes", "a:7000,[::1]:7001,b"), ("cluster", "true")]).unwrap();
    assert_eq!(settings.address(), "redis+cluster://a:7000,[::1]:7001,b:6379/0");
    let error = of(&[("host", "db"), ("passwort", "s3cret")]).unwrap_err();
    assert_eq!(error.message(), "coordinator: unknown parameter \"passwort\"; did you mean password?");
    assert!(of(&[("port", "0")]).unwrap_err().message().contains("from 1 to 65535"));
    assert!(of(&[("host", "a b")]).unwrap_err().message().contains("a host's name"));
}

#[test]
fn sentinels_have_a_login_and_tls_of_their_own() {
    let sentinel = |settings: Settings| match settings.topology {
        Topology::Sentinel(sentinel) => sentinel,
        _ => panic!("no Sentinels"),
    };
    let given = [
        ("sentinels", "a:1,b"),
        ("name", "mymaster"),
        ("password", "one"),
        ("sentinelUsername", "watch"),
        ("sentinelPassword", "two"),
        ("tls", "true"),
    ];
    let settings = of(&given).unwrap();
    assert_eq!(settings.address(), "rediss+sentinel://a:1,b:26379/mymaster/0");
    assert_eq!(login(&settings), (None, Some("one")));
    let found = sentinel(settings);
    assert_eq!((found.login.user.as_deref(), found.tls), (Some("watch"), true));
    assert_eq!(found.login.password.as_ref().map(|password| password.as_str()), Some("two"));
    let found = sentinel(good("rediss+sentinel://:one@a/mymaster?sentinelTls=false"));
    assert!(found.login.password.is_none() && !found.tls);
    assert!(!sentinel(good("redis+sentinel://a/mymaster")).tls);
}

#[test]
fn names_are_listed_once() {
    let mut names: Vec<_> = known::<Key>().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// What is verified, and with which roots; nothing without TLS.
#[test]
fn tls_and_what_belongs_to_it() {
    use Verify::{Chain, Full, Nothing};
    for (url, expected) in [
        ("redis://host", None),
        ("redis://host?ssl_cert_reqs=none", None),
        ("rediss://host", Some((Full, "system"))),
        ("rediss://host?ssl_cert_reqs=required", Some((Full, "system"))),
        ("rediss://host?ssl_cert_reqs=none", Some((Nothing, "system"))),
        ("rediss://host?ssl_cert_reqs=CERT_NONE", Some((Nothing, "system"))),
        ("rediss://host#insecure", Some((Nothing, "system"))),
        ("rediss://host?skip_verify=true", Some((Nothing, "system"))),
        ("rediss://host?verifyPeer=NONE", Some((Nothing, "system"))),
        ("rediss://host?verifyPeer=CA&ssl_ca_certs=/ca", Some((Chain, "/ca"))),
        ("rediss://host?ssl_check_hostname=false&ssl_ca_certs=/ca", Some((Chain, "/ca"))),
        ("rediss://host?ssl_ca_certs=/ca", Some((Full, "/ca"))),
    ] {
        let tls = good(url).tls;
        let roots = match &tls.roots {
            Roots::System => "system".to_owned(),
            Roots::Given(sources) => format!("{sources:?}").replace("[ssl_ca_certs ", "").replace(']', ""),
        };
        assert_eq!((!tls.is_off()).then_some((tls.verify, roots.as_str())), expected, "{url}");
    }
    assert!(good("rediss://host?ssl_certfile=/c&ssl_keyfile=/k").tls.identity.is_some());

    let options = |reject, servername: Option<&str>| {
        let mut options = TlsOptions::default();
        (options.reject_unauthorized, options.servername) = (reject, servername.map(str::to_owned));
        options
    };
    for (url, reject, servername, verify) in [
        ("redis://host", Some(true), None, Full),
        ("redis://host", Some(false), None, Nothing),
        ("redis://host", None, Some("name"), Full),
        ("rediss://host#insecure", Some(true), None, Full),
        ("rediss://host", Some(false), None, Nothing),
    ] {
        let settings = Settings::parse(url, &options(reject, servername)).unwrap();
        assert_eq!((settings.tls.is_off(), settings.tls.verify), (false, verify), "{url} {reject:?} {servername:?}");
    }
    let error = Settings::parse("redis://host?tls=false", &options(Some(true), None)).unwrap_err();
    assert_eq!(error.fields().option, Some("tls"));
}
