//! Many IDs at once: what JavaScript keeps ready, and the `…Many` calls. Each gives what its counterpart for one ID
//! gives, without heap allocation.

use super::{IdType, Input};
use crate::codec::Invalid;

impl IdType {
    /// Puts the number that the database keeps in the place of each nonce: [`IdType::number`] for many.
    pub fn number_block(&self, nonces: &mut [u64]) {
        if let Some(cipher) = &self.encryption {
            cipher.encrypt_in_place(nonces);
        }
    }

    /// How many characters the application's texts have after the prefix; `None` where they vary, or where an ID is a
    /// bigint or a Buffer.
    #[must_use]
    pub fn body_length(&self) -> Option<usize> {
        self.app.format.text_length()
    }

    /// Writes what the application sees for each number, without the prefixes: [`IdType::write_app`] for many. The texts
    /// stand one after the other, as many as `bodies` has room for. Returns [`IdType::body_length`]; where that is
    /// `None`, nothing is written.
    pub fn write_app_block(&self, numbers: &[u64], bodies: &mut [u8]) -> Option<usize> {
        self.app.write_block(numbers, bodies)
    }

    /// The number behind what an application shows, still under the mask of the type's own spelling, so that
    /// [`IdType::unmask_block`] can take that away from many: the two of them are [`IdType::read_app`] for many.
    ///
    /// # Errors
    /// Those of [`IdType::read_app`].
    #[inline]
    pub fn read_app_masked(&self, input: Input<'_>) -> Result<u64, Invalid> {
        self.app.read_masked(input).or_else(|why| self.read_accepted(input, why).map(|number| self.app.masked(number)))
    }

    /// Puts the number that the database keeps in the place of each that [`IdType::read_app_masked`] gave.
    pub fn unmask_block(&self, masked: &mut [u64]) {
        if let Some(mask) = &self.app.mask {
            mask.decrypt_in_place(masked);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::cipher::{Cipher, Speck64};
    use crate::codec::{Format, Text};
    use crate::id::{Base, Kind, Spec, SpellingSpec};
    use crate::layout::Layout;

    fn id_type(kind: Kind, format: Format, masked: bool) -> IdType {
        let cipher = Arc::new(Cipher::from(Speck64::new(&[7; 16])));
        IdType::new(Spec {
            prefix: "usr_".to_owned(),
            kind,
            format,
            db_format: Format::Signed,
            mask: masked.then(|| cipher.clone()),
            encryption: Some(cipher),
            accepts: vec![SpellingSpec { prefix: "old_".to_owned(), format: Format::Hex, mask: None }],
            persist_prefix: false,
            layout: Layout::DEFAULT,
        })
        .unwrap()
    }

    proptest! {
        #[test]
        fn a_block_is_written_and_read_like_its_ids(
            numbers in vec(any::<u64>(), 0..200), format in prop::sample::select(Format::ALL.to_vec()), masked: bool,
        ) {
            let id_type = id_type(Kind::Counter, format, masked);
            let (mut text, mut bodies) = (Text::new(), vec![0; numbers.len() * 20]);
            let length = id_type.write_app_block(&numbers, &mut bodies);
            prop_assert_eq!(length, id_type.body_length());
            let Some(length) = length else {
                prop_assert!(bodies.iter().all(|&byte| byte == 0));
                return Ok(());
            };
            let mut read = Vec::new();
            for (&number, body) in numbers.iter().zip(bodies.chunks(length)) {
                id_type.write_app(number, &mut text);
                prop_assert_eq!(text.as_bytes(), [b"usr_", body].concat());
                read.push(id_type.read_app_masked(Input::Text(text.as_bytes())).unwrap());
            }
            id_type.unmask_block(&mut read);
            prop_assert_eq!(read, numbers);
        }

        #[test]
        fn a_block_of_nonces_is_encrypted_like_each(nonces in vec(any::<u64>(), 0..200)) {
            for kind in [Kind::Counter, Kind::Encrypted { base: Base::Counter }] {
                let id_type = id_type(kind, Format::Base58, false);
                let mut block = nonces.clone();
                id_type.number_block(&mut block);
                prop_assert_eq!(block, nonces.iter().map(|&nonce| id_type.number(nonce)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_accepted_spelling_is_unmasked_to_its_number_and_strangers_are_refused() {
        for masked in [false, true] {
            let id_type = id_type(Kind::Counter, Format::Base58, masked);
            let mut block = [id_type.read_app_masked(Input::Text(b"old_00000000000000ff")).unwrap()];
            id_type.unmask_block(&mut block);
            assert_eq!(block, [255]);
            for stranger in [&b"old_00000000000000fg"[..], b"usr_", b"new_1111111111"] {
                let input = Input::Text(stranger);
                assert_eq!(id_type.read_app_masked(input), id_type.read_app(input));
                assert!(id_type.read_app(input).is_err());
            }
        }
    }
}
