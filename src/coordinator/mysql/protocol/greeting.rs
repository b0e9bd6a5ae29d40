//! What a server says first, and what is said before TLS begins.

use tokio::io::{AsyncRead, AsyncWrite};

use super::answer::refusal;
use super::wire::{Fields, text};
use super::{Fault, Packets, able};

/// The largest packet that we would take, as we say it.
pub(super) const LARGEST: u32 = 0xFF_FFFF;

/// utf8mb4 in an order that every server has; our statements are ASCII.
pub(super) const UTF8MB4: u8 = 45;

/// The server's first words.
#[derive(Debug)]
pub(in crate::coordinator::mysql) struct Greeting {
    pub(super) able: u64,
    /// What a password is mixed with.
    pub(super) scramble: Vec<u8>,
    /// How most of its users log in.
    pub(super) plugin: String,
}

impl Greeting {
    /// Whether it offers TLS.
    pub(in crate::coordinator::mysql) fn offers_tls(&self) -> bool {
        self.able & able::SSL != 0
    }
}

/// Reads them.
pub(in crate::coordinator::mysql) async fn greet<S>(packets: &mut Packets<S>) -> Result<Greeting, Fault>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let packet = packets.read().await?;
    match refusal(&packet) {
        Some(error) => Err(error),
        None => read(&packet),
    }
}

fn read(packet: &[u8]) -> Result<Greeting, Fault> {
    const VERSION: u64 = 10;
    const NONCE: usize = 20;
    let mut fields = Fields::of(packet);
    if fields.number(1)? != VERSION {
        return Err(Fault::Strange);
    }
    // Its version, which a proxy may have made up, and the number of the connection.
    fields.terminated();
    fields.bytes(4)?;
    let mut scramble = fields.bytes(8)?.to_vec();
    fields.bytes(1)?;
    let low = fields.number(2)?;
    // Characters and status.
    fields.bytes(3)?;
    let able = low | fields.number(2)? << 16;
    let length = fields.number(1)? as usize;
    fields.bytes(10)?;
    if able & (able::PROTOCOL_41 | able::SECURE_CONNECTION) != able::PROTOCOL_41 | able::SECURE_CONNECTION {
        return Err(Fault::Strange);
    }
    // With a zero byte behind it.
    let rest = fields.bytes(length.saturating_sub(8).max(13))?;
    scramble.extend(rest);
    scramble.truncate(NONCE);
    let plugin = if able & able::PLUGIN_AUTH == 0 { String::new() } else { text(fields.terminated()) };
    Ok(Greeting { able, scramble, plugin })
}

/// Says that TLS comes next.
pub(in crate::coordinator::mysql) async fn secure<S>(packets: &mut Packets<S>, greeting: &Greeting) -> Result<(), Fault>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    packets.write(&head(greeting, true)).await
}

/// What begins our first words, before TLS and behind it.
pub(super) fn head(greeting: &Greeting, tls: bool) -> Vec<u8> {
    let ours = able::LONG_PASSWORD
        | able::FOUND_ROWS
        | able::LONG_FLAG
        | able::PROTOCOL_41
        | able::TRANSACTIONS
        | able::SECURE_CONNECTION
        | able::CONNECT_WITH_DB
        | if tls { able::SSL } else { 0 };
    let shared = greeting.able & (able::PLUGIN_AUTH | able::PLUGIN_AUTH_LENENC | able::CONNECT_ATTRS);
    let mut out = Vec::with_capacity(32);
    out.extend(((ours | shared) as u32).to_le_bytes());
    out.extend(LARGEST.to_le_bytes());
    out.push(UTF8MB4);
    out.extend([0; 23]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As MySQL 9 says it.
    const WORDS: &[u8] = b"\x0a9.7.4\0\x0b\0\0\0abcdefgh\0\xff\xff\xff\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0";

    #[test]
    fn the_first_words_are_read() {
        let greeting = read(WORDS).unwrap();
        assert_eq!(
            (greeting.plugin.as_str(), &greeting.scramble[..]),
            ("caching_sha2_password", &b"abcdefghijklmnopqrst"[..])
        );
        assert!(greeting.offers_tls());
    }

    #[test]
    fn what_is_cut_off_is_no_greeting() {
        let plugin = WORDS.len() - "caching_sha2_password\0".len();
        for length in 0..plugin {
            assert!(matches!(read(&WORDS[..length]), Err(Fault::Strange)), "{length}");
        }
        assert!(matches!(read(b"HTTP/1.1 400 Bad Request\r\n\r\n"), Err(Fault::Strange)));
    }
}
