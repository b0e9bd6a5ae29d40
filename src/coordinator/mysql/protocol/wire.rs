//! The fields that packets are made of. Numbers begin with their lowest byte.

use super::Fault;

/// Reads one field after the other. What is not there is a fault.
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn of(packet: &'a [u8]) -> Self {
        Self(packet)
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Fault::Strange)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Of up to eight bytes.
    pub(super) fn number(&mut self, bytes: usize) -> Result<u64, Fault> {
        Ok(self.bytes(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Up to a zero byte, or up to the end.
    pub(super) fn terminated(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        let (text, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.get(1..).unwrap_or_default();
        text
    }

    /// A number that says itself how long it is.
    pub(super) fn size(&mut self) -> Result<u64, Fault> {
        match self.number(1)? {
            0xFC => self.number(2),
            0xFD => self.number(3),
            0xFE => self.number(8),
            small @ 0..=0xFA => Ok(small),
            _ => Err(Fault::Strange),
        }
    }

    /// Bytes after their number.
    pub(super) fn sized(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.size()?;
        self.bytes(usize::try_from(count).map_err(|_| Fault::Strange)?)
    }

    /// The same, or NULL.
    pub(super) fn value(&mut self) -> Result<Option<&'a [u8]>, Fault> {
        match self.0.first() {
            Some(0xFB) => self.bytes(1).map(|_| None),
            _ => self.sized().map(Some),
        }
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }
}

/// What comes from a server as text.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The other way of [`Fields::sized`].
pub(super) fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    match bytes.len() {
        small @ 0..=0xFA => out.push(small as u8),
        longer => {
            out.push(0xFD);
            out.extend(&(longer as u32).to_le_bytes()[..3]);
        }
    }
    out.extend(bytes);
}

/// Text that holds no zero byte, and one behind it.
pub(super) fn put_terminated(out: &mut Vec<u8>, text: &str) {
    out.extend(text.bytes());
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 0xFA, 0xFB, 0xFFFF, 0x1_0000] {
            let (bytes, mut out) = (vec![7; length], Vec::new());
            put_sized(&mut out, &bytes);
            out.push(0xFB);
            put_terminated(&mut out, "ab");
            let mut fields = Fields::of(&out);
            assert_eq!(fields.value().unwrap(), Some(&bytes[..]));
            assert_eq!(fields.value().unwrap(), None);
            assert_eq!(fields.terminated(), b"ab");
            assert!(fields.rest().is_empty());
        }
    }

    #[test]
    fn what_is_cut_off_is_a_fault() {
        assert_eq!(Fields::of(&[0xFE, 1, 0, 0, 0, 0, 0, 0, 0x80]).size().unwrap(), 1 << 63 | 1);
        for packet in [&[][..], &[3, 1, 2], &[0xFC, 1], &[0xFD, 1, 0], &[0xFE; 8], &[0xFE; 9], &[0xFF]] {
            assert!(matches!(Fields::of(packet).sized(), Err(Fault::Strange)), "{packet:?}");
        }
        assert_eq!(Fields::of(b"abc").terminated(), b"abc");
        assert_eq!(Fields::of(&[1, 2, 3]).number(3).unwrap(), 0x03_0201);
    }
}
