//! Packets on a stream: a length, a number in sequence, and bytes.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::Fault;
use super::answer::refusal;

/// A packet this long is continued by the next one.
const PART: usize = 0xFF_FFFF;

/// No answer of ours is near that; a server that sends more is none.
const MOST: usize = 32 << 20;

/// The longest error.
const LAST_WORDS: usize = 1024;

/// A header: the length in three bytes, and the number.
const HEADER: usize = 4;

/// A stream with what was read ahead of it.
pub(in crate::coordinator::mysql) struct Packets<S> {
    stream: S,
    ahead: Vec<u8>,
    /// The number of the next packet, either way.
    next: u8,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Packets<S> {
    pub(in crate::coordinator::mysql) fn new(stream: S) -> Self {
        Self { stream, ahead: Vec::new(), next: 0 }
    }

    /// The same conversation over another stream, that is made of this one. What came unasked for would not be part of
    /// it: somebody in between would have slipped it in.
    pub(in crate::coordinator::mysql) async fn over<T, F>(self, wrap: impl FnOnce(S) -> F) -> Result<Packets<T>, Fault>
    where
        F: Future<Output = io::Result<T>>,
    {
        if !self.ahead.is_empty() {
            return Err(Fault::Strange);
        }
        Ok(Packets { stream: wrap(self.stream).await?, ahead: self.ahead, next: self.next })
    }

    /// Begins a new request.
    pub(super) fn restart(&mut self) {
        self.next = 0;
    }

    pub(super) async fn write(&mut self, packet: &[u8]) -> Result<(), Fault> {
        if packet.len() >= PART {
            return Err(Fault::Io(io::ErrorKind::InvalidInput.into()));
        }
        let mut bytes = Vec::with_capacity(HEADER + packet.len());
        bytes.extend(&(packet.len() as u32).to_le_bytes()[..HEADER - 1]);
        bytes.push(self.next);
        bytes.extend(packet);
        self.next = self.next.wrapping_add(1);
        self.stream.write_all(&bytes).await?;
        self.stream.flush().await?;
        zeroize::Zeroize::zeroize(&mut bytes);
        Ok(())
    }

    pub(super) async fn read(&mut self) -> Result<Vec<u8>, Fault> {
        let mut packet = Vec::new();
        loop {
            self.ahead_of(HEADER).await?;
            let [low, middle, high, number] = [0, 1, 2, 3].map(|index| self.ahead[index]);
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            // Its last words a server says unasked. What is no server must not be waited for.
            let is_next = number == self.next;
            if packet.len() + length > MOST || (!is_next && length > LAST_WORDS) {
                return Err(Fault::Strange);
            }
            self.ahead_of(HEADER + length).await?;
            packet.extend(&self.ahead[HEADER..HEADER + length]);
            self.ahead.drain(..HEADER + length);
            if !is_next && packet.first() != Some(&0xFF) {
                return Err(Fault::Strange);
            }
            self.next = number.wrapping_add(1);
            if length < PART {
                return Ok(packet);
            }
        }
    }

    /// Waits for the end of a conversation in which nothing is asked. Given up, nothing is lost.
    pub(in crate::coordinator::mysql) async fn end(&mut self) -> Fault {
        match self.read().await {
            Ok(packet) => refusal(&packet).unwrap_or(Fault::Strange),
            Err(fault) => fault,
        }
    }

    /// Says goodbye.
    pub(in crate::coordinator::mysql) async fn leave(&mut self) {
        const QUIT: u8 = 1;
        self.restart();
        if self.write(&[QUIT]).await.is_ok() {
            let _ = self.stream.shutdown().await;
        }
    }

    /// Reads until that much is there.
    async fn ahead_of(&mut self, count: usize) -> io::Result<()> {
        const AT_ONCE: usize = 4096;
        while self.ahead.len() < count {
            self.ahead.reserve(AT_ONCE);
            if self.stream.read_buf(&mut self.ahead).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }
}
