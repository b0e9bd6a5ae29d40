//! What a server says before it is asked: that it is full, or lets nobody in. The library drops it, since no request is
//! waiting for it.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The first error that came, `code detail`.
#[derive(Clone, Default)]
pub(super) struct Greeting(Arc<OnceLock<String>>);

impl Greeting {
    /// An error that was the first word of all.
    pub(super) fn refusal(&self) -> Option<(&str, &str)> {
        let line = self.0.get()?.strip_prefix('-')?.lines().next()?;
        Some(line.split_once(' ').unwrap_or((line, "")))
    }
}

/// A stream whose first bytes are remembered.
pub(super) struct Greeted<S> {
    pub(super) stream: S,
    pub(super) greeting: Greeting,
}

impl<S: AsyncRead + Unpin> AsyncRead for Greeted<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if self.greeting.0.get().is_none() && buffer.filled().len() > before {
            const LONGEST: usize = 400;
            let said = buffer.filled()[before..].iter().take(LONGEST).copied().collect::<Vec<_>>();
            let _ = self.greeting.0.set(String::from_utf8_lossy(&said).into_owned());
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Greeted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
