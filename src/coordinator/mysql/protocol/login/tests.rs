//! Whole logins with a server that says what a test has it say. What real ones say is in `tests/mysql_connect`.

use num_bigint::BigUint;
use sha1::{Digest, Sha1};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;
use crate::coordinator::mysql::protocol::greet;

const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";

/// The other side.
struct Peer(DuplexStream);

impl Peer {
    async fn say(&mut self, number: u8, packet: &[u8]) {
        self.0.write_all(&[packet.len() as u8, (packet.len() >> 8) as u8, 0, number]).await.unwrap();
        self.0.write_all(packet).await.unwrap();
    }

    async fn hear(&mut self) -> Vec<u8> {
        let mut header = [0; 4];
        self.0.read_exact(&mut header).await.unwrap();
        let mut packet = vec![0; usize::from(header[0]) | usize::from(header[1]) << 8];
        self.0.read_exact(&mut packet).await.unwrap();
        packet
    }

    async fn greet(&mut self, plugin: &str) {
        let (first, second) = NONCE.split_at(8);
        let mut out = b"\x0a9.7.4\0\x0b\0\0\0".to_vec();
        out.extend([first, b"\0\xff\xff\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0", second, b"\0"].concat());
        put_terminated(&mut out, plugin);
        self.say(0, &out).await;
    }
}

/// What came of it, with a server of which most users log in by `plugin`.
async fn log_in_at(
    plugin: &str,
    channel: Channel,
    may_take_key: bool,
    script: impl AsyncFnOnce(&mut Peer),
) -> Result<(), Fault> {
    let (ours, theirs) = duplex(65536);
    let mut peer = Peer(theirs);
    let login = async {
        let mut packets = Packets::new(ours);
        let greeting = greet(&mut packets).await?;
        let account = Account { user: "me", password: "secret", database: "db", may_take_key };
        log_in(&mut packets, &greeting, &account, channel).await
    };
    let server = async {
        peer.greet(plugin).await;
        script(&mut peer).await;
    };
    tokio::join!(login, server).0
}

const ALL: [Channel; 4] =
    [Channel::Plain, Channel::Tls { verified: false }, Channel::Tls { verified: true }, Channel::Socket];

#[track_caller]
fn refused_with(result: Result<(), Fault>, part: &str) {
    match result {
        Err(Fault::Refused(what, _)) => assert!(what.contains(part), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_first_words_name_user_database_and_plugin() {
    for (plugin, named, proof) in [
        ("caching_sha2_password", "caching_sha2_password", scramble::sha2(b"secret", NONCE)),
        ("mysql_native_password", "mysql_native_password", scramble::native(b"secret", NONCE)),
        ("something_new", "mysql_native_password", scramble::native(b"secret", NONCE)),
        // Not before it is known who asks.
        ("mysql_clear_password", "mysql_native_password", scramble::native(b"secret", NONCE)),
    ] {
        let logged = log_in_at(plugin, Channel::Plain, true, async |peer| {
            let said = peer.hear().await;
            let mut fields = Fields::of(&said[32..]);
            assert_eq!(
                (fields.terminated(), fields.sized().unwrap(), fields.terminated(), fields.terminated()),
                (&b"me"[..], &proof[..], &b"db"[..], named.as_bytes())
            );
            assert_eq!(fields.sized().unwrap(), b"\x0cprogram_name\x06mintid");
            peer.say(2, b"\0\0\0\x02\0\0\0").await;
        });
        logged.await.unwrap();
    }
}

#[tokio::test]
async fn a_password_as_it_is_goes_only_where_nobody_else_reads_it() {
    for channel in ALL {
        let logged = log_in_at("mysql_native_password", channel, true, async |peer| {
            peer.hear().await;
            peer.say(2, b"\xfemysql_clear_password\0").await;
            if channel.is_trusted() {
                assert_eq!(peer.hear().await, b"secret\0");
                peer.say(4, b"\0\0\0\x02\0\0\0").await;
            }
        });
        match channel {
            Channel::Socket | Channel::Tls { verified: true } => logged.await.unwrap(),
            Channel::Plain | Channel::Tls { verified: false } => refused_with(logged.await, "the password as it is"),
        }
    }
}

/// A server that has forgotten the password of `caching_sha2_password`, and the other plugin that always does.
#[tokio::test]
async fn a_password_that_is_forgotten_is_sent_anew() {
    for channel in ALL {
        let logged = log_in_at("caching_sha2_password", channel, false, async |peer| {
            peer.hear().await;
            peer.say(2, b"\x01\x04").await;
            if channel != Channel::Plain {
                assert_eq!(peer.hear().await, b"secret\0");
                peer.say(4, b"\0\0\0\x02\0\0\0").await;
            }
        });
        match channel {
            Channel::Plain => refused_with(logged.await, "may not say with which key"),
            _ => logged.await.unwrap(),
        }
    }
    for (plugin, ask) in [("caching_sha2_password", 2), ("sha256_password", 1)] {
        let logged = log_in_at(plugin, Channel::Plain, true, async |peer| {
            peer.hear().await;
            let asked = if plugin == "caching_sha2_password" {
                b"\x01\x04".to_vec()
            } else {
                [b"\xfesha256_password\0", &NONCE[..], b"\0"].concat()
            };
            peer.say(2, &asked).await;
            assert_eq!(peer.hear().await, [ask]);
            peer.say(4, &[b"\x01", rsa::tests::PUBLIC.as_bytes()].concat()).await;
            assert_eq!(opened(&peer.hear().await), scramble::xor(b"secret\0", NONCE));
            peer.say(6, b"\0\0\0\x02\0\0\0").await;
        });
        logged.await.unwrap();
    }
    let logged = log_in_at("caching_sha2_password", Channel::Plain, true, async |peer| {
        peer.hear().await;
        peer.say(2, b"\x01\x04").await;
        peer.hear().await;
        peer.say(4, b"\x01no key").await;
    });
    assert!(matches!(logged.await, Err(Fault::Strange)));
}

/// As a server opens it, with its private key.
fn opened(encrypted: &[u8]) -> Vec<u8> {
    let number = |hex: &[u8]| BigUint::parse_bytes(hex, 16).unwrap();
    let (modulus, exponent) = (number(rsa::tests::MODULUS), number(rsa::tests::PRIVATE));
    let bytes = BigUint::from_bytes_be(encrypted).modpow(&exponent, &modulus).to_bytes_be();
    // A zero byte before it is not written.
    let (seed, block) = bytes.split_at(20);
    let mask = |text: &[u8], by: &[u8]| {
        let stream = (0_u32..7).flat_map(|n| Sha1::new().chain_update(by).chain_update(n.to_be_bytes()).finalize());
        text.iter().zip(stream).map(|(byte, mask)| byte ^ mask).collect::<Vec<_>>()
    };
    let seed = mask(seed, block);
    let block = mask(block, &seed);
    let message = block[20..].iter().position(|byte| *byte == 1).unwrap() + 21;
    block[message..].to_vec()
}

#[tokio::test]
async fn what_we_do_not_have_is_refused_by_name() {
    for (asked, part) in [
        (&b"\xfe"[..], "mysql_old_password"),
        (b"\xfedialog\0", "by dialog"),
        (b"\xfeauthentication_ldap_sasl_client\0SCRAM", "authentication_ldap_sasl_client"),
        (b"\x02mysql_clear_password\0", "a second factor"),
    ] {
        let logged = log_in_at("caching_sha2_password", Channel::Socket, true, async |peer| {
            peer.hear().await;
            peer.say(2, asked).await;
        });
        refused_with(logged.await, part);
    }
}

#[tokio::test]
async fn a_server_that_does_not_keep_to_it() {
    // Without end.
    let logged = log_in_at("caching_sha2_password", Channel::Plain, true, async |peer| {
        peer.hear().await;
        for round in 0..ROUNDS as u8 {
            peer.say(2 + 2 * round, &[b"\xfemysql_native_password\0", &NONCE[..], b"\0"].concat()).await;
            assert_eq!(peer.hear().await, scramble::native(b"secret", NONCE));
        }
    });
    assert!(matches!(logged.await, Err(Fault::Strange)));
    for said in [&b""[..], b"\x01\x09", b"hello"] {
        let logged = log_in_at("mysql_native_password", Channel::Plain, true, async |peer| {
            peer.hear().await;
            peer.say(2, said).await;
        });
        assert!(matches!(logged.await, Err(Fault::Strange)), "{said:?}");
    }
    // Out of turn.
    let logged = log_in_at("mysql_native_password", Channel::Plain, true, async |peer| {
        peer.hear().await;
        peer.say(3, b"\0\0\0\x02\0\0\0").await;
    });
    assert!(matches!(logged.await, Err(Fault::Strange)));
    let logged = log_in_at("mysql_native_password", Channel::Plain, true, async |peer| {
        peer.hear().await;
        peer.say(2, b"\xff\x15\x04#28000Access denied").await;
    });
    assert!(
        matches!(logged.await, Err(Fault::Server(1045, state, text)) if state == "28000" && text == "Access denied")
    );
}

/// Somebody who adds words of their own before TLS begins.
#[tokio::test]
async fn nothing_is_taken_over_into_tls() {
    let (ours, theirs) = duplex(65536);
    let mut peer = Peer(theirs);
    peer.greet("caching_sha2_password").await;
    peer.say(2, b"\0\0\0\x02\0\0\0").await;
    let mut packets = Packets::new(ours);
    greet(&mut packets).await.unwrap();
    let wrapped = packets.over(async |stream| Ok(stream)).await;
    assert!(matches!(wrapped.err(), Some(Fault::Strange)));
}
