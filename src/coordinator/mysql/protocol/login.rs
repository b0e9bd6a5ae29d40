//! Who we are, and the proof of it.
//!
//! A password leaves this machine as it is only where nobody else can read it: through a Unix socket, or under TLS. To a
//! plugin that asks for nothing else (`mysql_clear_password`) it goes under TLS only where the server's certificate was
//! verified, since any server can ask.

#[cfg(test)]
mod tests;

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};
use zeroize::Zeroizing;

use super::answer::refusal;
use super::greeting::head;
use super::wire::{Fields, put_sized, put_terminated, text};
use super::{Fault, Greeting, Packets, able, eddsa, rsa, scramble};

/// Who wants to come in.
pub(in crate::coordinator::mysql) struct Account<'a> {
    pub(in crate::coordinator::mysql) user: &'a str,
    /// Without one, it is empty.
    pub(in crate::coordinator::mysql) password: &'a str,
    pub(in crate::coordinator::mysql) database: &'a str,
    /// Whether a server without TLS may say which key the password is encrypted with.
    pub(in crate::coordinator::mysql) may_take_key: bool,
}

/// What the two talk through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::coordinator::mysql) enum Channel {
    /// A network, and everybody on the way.
    Plain,
    /// The same under TLS; whether the certificate was looked at.
    Tls { verified: bool },
    /// Nobody else.
    Socket,
}

impl Channel {
    fn is_private(self) -> bool {
        self != Self::Plain
    }

    fn is_trusted(self) -> bool {
        self.is_private() && self != Self::Tls { verified: false }
    }
}

/// How a server wants to see a password proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plugin {
    Native,
    CachingSha2,
    Sha256,
    Ed25519,
    Parsec,
    Clear,
}

const PLUGINS: &[(&str, Plugin)] = &[
    ("mysql_native_password", Plugin::Native),
    ("caching_sha2_password", Plugin::CachingSha2),
    ("sha256_password", Plugin::Sha256),
    ("client_ed25519", Plugin::Ed25519),
    ("parsec", Plugin::Parsec),
    ("mysql_clear_password", Plugin::Clear),
];

/// More than any login takes.
const ROUNDS: usize = 10;

/// Answers the greeting, and whatever the server asks until it is satisfied.
pub(in crate::coordinator::mysql) async fn log_in<S>(
    packets: &mut Packets<S>,
    greeting: &Greeting,
    account: &Account<'_>,
    channel: Channel,
) -> Result<(), Fault>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // What most users have; the server corrects us about this one.
    let plugin = if greeting.plugin == "caching_sha2_password" { Plugin::CachingSha2 } else { Plugin::Native };
    let mut login = Login { packets, account, channel, plugin, nonce: greeting.scramble.clone() };
    login.introduce(greeting, plugin).await?;
    for _ in 0..ROUNDS {
        let packet = login.packets.read().await?;
        match packet.split_first() {
            Some((0, _)) => return Ok(()),
            Some((0xFF, _)) => return Err(refusal(&packet).unwrap_or(Fault::Strange)),
            Some((0xFE, [])) => return Err(refused("mysql_old_password")),
            Some((0xFE, asked)) => login.switch(asked).await?,
            Some((2, _)) if login.plugin != Plugin::Parsec => return Err(refused("a second factor")),
            // Bytes that would mean something else here have a 1 before them.
            Some((1, more)) => login.go_on(more).await?,
            Some(_) => login.go_on(&packet).await?,
            None => return Err(Fault::Strange),
        }
    }
    Err(Fault::Strange)
}

struct Login<'a, S> {
    packets: &'a mut Packets<S>,
    account: &'a Account<'a>,
    channel: Channel,
    plugin: Plugin,
    nonce: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Login<'_, S> {
    async fn introduce(&mut self, greeting: &Greeting, plugin: Plugin) -> Result<(), Fault> {
        let Account { user, database, .. } = self.account;
        let tls = matches!(self.channel, Channel::Tls { .. });
        let mut out = head(greeting, tls);
        put_terminated(&mut out, user);
        put_sized(&mut out, &self.proof(plugin));
        put_terminated(&mut out, database);
        if greeting.able & able::PLUGIN_AUTH != 0 {
            let name = PLUGINS.iter().find(|(_, known)| *known == plugin).map_or("", |(name, _)| name);
            put_terminated(&mut out, name);
        }
        if greeting.able & able::CONNECT_ATTRS != 0 {
            let mut attributes = Vec::new();
            put_sized(&mut attributes, b"program_name");
            put_sized(&mut attributes, b"mintid");
            put_sized(&mut out, &attributes);
        }
        self.packets.write(&out).await
    }

    /// What can be shown at first; nothing for an empty password.
    fn proof(&self, plugin: Plugin) -> Vec<u8> {
        let password = self.account.password.as_bytes();
        match plugin {
            _ if password.is_empty() => Vec::new(),
            Plugin::CachingSha2 => scramble::sha2(password, &self.nonce),
            _ => scramble::native(password, &self.nonce),
        }
    }

    /// This user logs in otherwise: the plugin's name, and what it mixes the password with.
    async fn switch(&mut self, asked: &[u8]) -> Result<(), Fault> {
        let mut fields = Fields::of(asked);
        let name = text(fields.terminated());
        let nonce = fields.rest();
        self.nonce = nonce.strip_suffix(&[0]).filter(|rest| rest.len() == 20).unwrap_or(nonce).to_vec();
        let plugin = PLUGINS.iter().find(|(known, _)| *known == name).ok_or_else(|| refused(&name))?;
        self.plugin = plugin.1;
        let password = self.account.password.as_bytes();
        match self.plugin {
            Plugin::Native | Plugin::CachingSha2 => self.packets.write(&self.proof(self.plugin)).await,
            Plugin::Sha256 if password.is_empty() => self.packets.write(&[0]).await,
            Plugin::Sha256 => self.reveal(1).await,
            Plugin::Ed25519 => self.packets.write(&eddsa::ed25519(password, &self.nonce)).await,
            // It says first how keys are derived.
            Plugin::Parsec => self.packets.write(&[]).await,
            Plugin::Clear if self.channel.is_trusted() => self.tell().await,
            Plugin::Clear => Err(Fault::Refused(
                "the server asks for the password as it is".to_owned(),
                "it gets that only under TLS with a certificate that is verified: ssl-mode=VERIFY_IDENTITY",
            )),
        }
    }

    /// What a plugin has to say beside.
    async fn go_on(&mut self, said: &[u8]) -> Result<(), Fault> {
        const REMEMBERED: &[u8] = &[3];
        const FORGOTTEN: &[u8] = &[4];
        match self.plugin {
            Plugin::CachingSha2 if said == REMEMBERED => Ok(()),
            Plugin::CachingSha2 if said == FORGOTTEN => self.reveal(2).await,
            Plugin::Parsec => {
                let mut ours = [0; eddsa::NONCE];
                fill(&mut ours)?;
                let password = self.account.password.as_bytes();
                let answer = eddsa::parsec(password, &self.nonce, said, ours).ok_or_else(|| refused("parsec"))?;
                self.packets.write(&answer).await
            }
            _ => Err(Fault::Strange),
        }
    }

    /// Sends the password itself, where nobody else can read it, or for the server's key alone; `ask` asks for that.
    async fn reveal(&mut self, ask: u8) -> Result<(), Fault> {
        if self.channel.is_private() {
            return self.tell().await;
        }
        if !self.account.may_take_key {
            return Err(Fault::Refused(
                "the server does not remember the password, and may not say with which key to encrypt it".to_owned(),
                "use TLS (ssl-mode=REQUIRED or VERIFY_IDENTITY), or leave allowPublicKeyRetrieval=false out",
            ));
        }
        self.packets.write(&[ask]).await?;
        let answer = self.packets.read().await?;
        if let Some(error) = refusal(&answer) {
            return Err(error);
        }
        let key = answer.strip_prefix(&[1]).and_then(rsa::Key::read).ok_or(Fault::Strange)?;
        let mut seed = [0; 20];
        fill(&mut seed)?;
        let mixed = scramble::xor(&[self.account.password.as_bytes(), &[0]].concat(), &self.nonce);
        let encrypted = key.encrypt(&mixed, seed).ok_or_else(|| {
            Fault::Refused("the password is too long for the server's key".to_owned(), "use TLS: ssl-mode=REQUIRED")
        })?;
        self.packets.write(&encrypted).await
    }

    async fn tell(&mut self) -> Result<(), Fault> {
        let text = Zeroizing::new([self.account.password.as_bytes(), &[0]].concat());
        self.packets.write(&text).await
    }
}

fn fill(bytes: &mut [u8]) -> Result<(), Fault> {
    getrandom::fill(bytes).map_err(|error| Fault::Io(io::Error::other(error)))
}

fn refused(plugin: &str) -> Fault {
    Fault::Refused(
        format!("the server wants this user to log in by {plugin}, which mintid cannot"),
        "caching_sha2_password, mysql_native_password, ed25519, parsec and sha256_password will do",
    )
}
