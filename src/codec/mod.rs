//! Numbers of 64 bits as text, one file a format. Each format spells a number in exactly one way and reads nothing
//! else: no other case, padding, blanks, signs, leading zeros or unused bits. Writing takes tables and no heap.

pub mod base58;
pub mod base62;
pub mod decimal;
pub mod hex;
pub mod hex32;
pub mod integer;
mod invalid;
mod prefix;
pub mod raw;
mod table;
mod text;
pub mod unpadded;
pub mod url64;
pub mod wide;

pub use invalid::Invalid;
pub use prefix::Prefix;
pub use text::{Buffer, Text, WideText};
pub use unpadded::Positional;

/// How a number is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// 11 characters of Bitcoin's alphabet; they sort like the number.
    Base58,
    /// 11 characters of base64url (RFC 4648); they do not sort.
    Url64,
    /// 16 lower-case hexadecimal digits; they sort like the number.
    Hex,
    /// 13 lower-case characters of base32hex (RFC 4648); they sort like the number.
    Hex32,
    /// 11 digits, capitals and small letters; they sort like the number.
    Base62,
    /// 20 decimal digits as text; they sort like the number.
    Decimal,
    /// `Base58` without padding: 1 to 11 characters; they do not sort.
    Base58Unpadded,
    /// `Base62` without padding: 1 to 11 characters; they do not sort.
    Base62Unpadded,
    /// `Decimal` without padding: 1 to 20 characters; they do not sort.
    DecimalUnpadded,
    /// A decimal number from -2^63 to 2^63 - 1 (two's complement).
    Signed,
    /// A decimal number from 0 to 2^64 - 1.
    Unsigned,
    /// 8 bytes, big-endian; not text.
    Raw,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 12] = [
        Self::Base58,
        Self::Url64,
        Self::Hex,
        Self::Hex32,
        Self::Base62,
        Self::Decimal,
        Self::Signed,
        Self::Unsigned,
        Self::Raw,
        Self::Base58Unpadded,
        Self::Base62Unpadded,
        Self::DecimalUnpadded,
    ];

    /// The format of a public name, padded where it can be.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// The same without padding (`pad: false`); `None` for formats that have none to go without.
    #[must_use]
    pub const fn unpadded(self) -> Option<Self> {
        match self {
            Self::Base58 => Some(Self::Base58Unpadded),
            Self::Base62 => Some(Self::Base62Unpadded),
            Self::Decimal => Some(Self::DecimalUnpadded),
            _ => None,
        }
    }

    /// What a format without padding is made of; `None` for all others.
    #[must_use]
    pub const fn positional(self) -> Option<Positional> {
        match self {
            Self::Base58Unpadded => Some(Positional::Base58),
            Self::Base62Unpadded => Some(Positional::Base62),
            Self::DecimalUnpadded => Some(Positional::Decimal),
            _ => None,
        }
    }

    /// The public name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Base58 | Self::Base58Unpadded => "base58",
            Self::Base62 | Self::Base62Unpadded => "base62",
            Self::Decimal | Self::DecimalUnpadded => "decimal",
            Self::Url64 => "url64",
            Self::Hex => "hex",
            Self::Hex32 => "hex32",
            Self::Signed => "signed",
            Self::Unsigned => "unsigned",
            Self::Raw => "raw",
        }
    }

    /// Whether the format is a decimal number, which JavaScript sees as a bigint.
    #[must_use]
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Signed | Self::Unsigned)
    }

    /// Whether spellings sort, bytewise or as numbers, like the numbers they stand for; `signed` does but for its sign.
    #[must_use]
    pub const fn sorts(self) -> bool {
        !matches!(self, Self::Url64 | Self::Base58Unpadded | Self::Base62Unpadded | Self::DecimalUnpadded)
    }

    /// The fewest and the most bytes of a spelling.
    #[must_use]
    pub const fn lengths(self) -> (usize, usize) {
        match self {
            Self::Base58 => (base58::LENGTH, base58::LENGTH),
            Self::Url64 => (url64::LENGTH, url64::LENGTH),
            Self::Hex => (hex::LENGTH, hex::LENGTH),
            Self::Hex32 => (hex32::LENGTH, hex32::LENGTH),
            Self::Base62 => (base62::LENGTH, base62::LENGTH),
            Self::Decimal => (decimal::LENGTH, decimal::LENGTH),
            Self::Base58Unpadded => (1, base58::LENGTH),
            Self::Base62Unpadded => (1, base62::LENGTH),
            Self::DecimalUnpadded => (1, decimal::LENGTH),
            Self::Signed | Self::Unsigned => (1, integer::LONGEST),
            Self::Raw => (raw::LENGTH, raw::LENGTH),
        }
    }

    /// The characters of a text, where every one has as many; `None` for numbers, unpadded text, and `raw`, which is no
    /// text.
    #[must_use]
    pub const fn text_length(self) -> Option<usize> {
        match (self, self.lengths()) {
            (Self::Raw, _) => None,
            (_, (shortest, longest)) if shortest < longest => None,
            (_, (length, _)) => Some(length),
        }
    }

    /// Whether a byte can occur in a spelling.
    #[must_use]
    pub fn has(self, byte: u8) -> bool {
        match self {
            Self::Base58 | Self::Base58Unpadded => base58::ALPHABET.contains(&byte),
            Self::Url64 => url64::ALPHABET.contains(&byte),
            Self::Hex => hex::ALPHABET.contains(&byte),
            Self::Hex32 => hex32::ALPHABET.contains(&byte),
            Self::Base62 | Self::Base62Unpadded => base62::ALPHABET.contains(&byte),
            Self::Decimal | Self::DecimalUnpadded => decimal::ALPHABET.contains(&byte),
            Self::Signed => byte == b'-' || byte.is_ascii_digit(),
            Self::Unsigned => byte.is_ascii_digit(),
            Self::Raw => true,
        }
    }

    /// Appends the spelling of a number.
    #[inline]
    pub fn encode(self, number: u64, text: &mut Text) {
        match self {
            Self::Base58 => text.push(&base58::encode(number)),
            Self::Url64 => text.push(&url64::encode(number)),
            Self::Hex => text.push(&hex::encode(number)),
            Self::Hex32 => text.push(&hex32::encode(number)),
            Self::Base62 => text.push(&base62::encode(number)),
            Self::Decimal => text.push(&decimal::encode(number)),
            Self::Base58Unpadded => unpadded::encode(Positional::Base58, number, text),
            Self::Base62Unpadded => unpadded::encode(Positional::Base62, number, text),
            Self::DecimalUnpadded => unpadded::encode(Positional::Decimal, number, text),
            Self::Signed => integer::encode_signed(number.cast_signed(), text),
            Self::Unsigned => integer::encode_unsigned(number, text),
            Self::Raw => text.push(&raw::encode(number)),
        }
    }

    /// Writes the texts of many numbers one after the other, without anything between them, as many as `texts` has room
    /// for. Returns the length of each, or `None`, and writes nothing, where that is [`Format::text_length`].
    pub fn encode_block(self, numbers: &[u64], texts: &mut [u8]) -> Option<usize> {
        match self {
            // Lanes would gain url64 half a nanosecond of two, the others less: tables do.
            Self::Base58 => base58::encode_block(numbers, texts.as_chunks_mut().0),
            Self::Url64 => encode_each(numbers, texts, url64::encode),
            Self::Hex => encode_each(numbers, texts, hex::encode),
            Self::Hex32 => encode_each(numbers, texts, hex32::encode),
            Self::Base62 => encode_each(numbers, texts, base62::encode),
            Self::Decimal => encode_each(numbers, texts, decimal::encode),
            // Of many lengths, or no text.
            Self::Signed
            | Self::Unsigned
            | Self::Raw
            | Self::Base58Unpadded
            | Self::Base62Unpadded
            | Self::DecimalUnpadded => {}
        }
        self.text_length()
    }

    /// Reads a spelling.
    ///
    /// # Errors
    /// What keeps the bytes from being the one spelling of a number.
    #[inline]
    pub fn decode(self, spelling: &[u8]) -> Result<u64, Invalid> {
        match self {
            Self::Base58 => base58::decode(spelling),
            Self::Url64 => url64::decode(spelling),
            Self::Hex => hex::decode(spelling),
            Self::Hex32 => hex32::decode(spelling),
            Self::Base62 => base62::decode(spelling),
            Self::Decimal => decimal::decode(spelling),
            Self::Base58Unpadded => unpadded::decode(Positional::Base58, spelling),
            Self::Base62Unpadded => unpadded::decode(Positional::Base62, spelling),
            Self::DecimalUnpadded => unpadded::decode(Positional::Decimal, spelling),
            Self::Signed => integer::decode_signed(spelling).map(i64::cast_unsigned),
            Self::Unsigned => integer::decode_unsigned(spelling),
            Self::Raw => raw::decode(spelling),
        }
    }
}

fn encode_each<const LENGTH: usize>(numbers: &[u64], texts: &mut [u8], encode: impl Fn(u64) -> [u8; LENGTH]) {
    for (&number, text) in numbers.iter().zip(texts.as_chunks_mut().0) {
        *text = encode(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(format: Format, number: u64) -> Vec<u8> {
        let mut text = Text::new();
        format.encode(number, &mut text);
        text.as_bytes().to_vec()
    }

    fn formats() -> impl Strategy<Value = Format> {
        proptest::sample::select(Format::ALL.to_vec())
    }

    fn sorting_formats() -> impl Strategy<Value = Format> {
        let sorting = Format::ALL.into_iter().filter(|format| format.sorts() && !format.is_numeric());
        proptest::sample::select(sorting.collect::<Vec<_>>())
    }

    /// Numbers of every magnitude, the borders among them.
    fn numbers() -> impl Strategy<Value = u64> {
        let borders = [0, 1, 9, 10, 57, 58, 3363, 3364, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
        prop_oneof![
            any::<u64>(),
            (any::<u64>(), 0_u32..64).prop_map(|(n, s)| n >> s),
            proptest::sample::select(borders.to_vec())
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn writing_and_reading_are_inverse(format in formats(), number in numbers()) {
            let text = spelled(format, number);
            let (shortest, longest) = format.lengths();
            prop_assert!((shortest..=longest).contains(&text.len()));
            prop_assert!(format.text_length().is_none_or(|length| length == text.len()));
            prop_assert!(text.iter().all(|&byte| format.has(byte)));
            prop_assert_eq!(format.decode(&text), Ok(number));
        }

        #[test]
        fn a_block_is_the_texts_of_its_numbers(
            format in formats(), numbers in prop::collection::vec(numbers(), 0..40), short: prop::sample::Index,
        ) {
            let Some(length) = format.text_length() else {
                let mut texts = [0; 100];
                prop_assert_eq!((format.encode_block(&numbers, &mut texts), texts), (None, [0; 100]));
                return Ok(());
            };
            let expected: Vec<_> = numbers.iter().flat_map(|&number| spelled(format, number)).collect();
            let room = expected.len() - short.index(expected.len() + 1);
            let mut texts = vec![0; room];
            prop_assert_eq!(format.encode_block(&numbers, &mut texts), Some(length));
            let whole = room / length * length;
            prop_assert_eq!(&texts[..whole], &expected[..whole]);
            prop_assert!(texts[whole..].iter().all(|&byte| byte == 0));
        }

        #[test]
        fn text_sorts_where_the_docs_say_so(format in sorting_formats(), a in numbers(), b in numbers()) {
            prop_assert_eq!(spelled(format, a).cmp(&spelled(format, b)), a.cmp(&b));
        }

        #[test]
        fn what_can_be_read_is_the_one_spelling(
            format in formats(), number in numbers(), at: prop::sample::Index, to: u8,
        ) {
            let mut text = spelled(format, number);
            let at = at.index(text.len());
            text[at] = to;
            if let Ok(read) = format.decode(&text) {
                prop_assert_eq!(spelled(format, read), text);
            }
        }
    }

    #[test]
    fn names_are_public_and_distinct() {
        for format in Format::ALL {
            let named = Format::parse(format.as_str());
            assert!(named == Some(format) || named.and_then(Format::unpadded) == Some(format), "{format:?}");
        }
        let unpadded = Format::ALL.into_iter().filter_map(Format::unpadded);
        assert_eq!(unpadded.count(), 3);
        for stranger in ["", "Base58", "base64", "base36", " hex"] {
            assert_eq!(Format::parse(stranger), None, "{stranger}");
        }
    }

    #[test]
    fn text_does_not_sort_elsewhere() {
        for format in Format::ALL.into_iter().filter(|format| !format.sorts() || format.is_numeric()) {
            let texts: Vec<_> = (0..=255).map(|byte| spelled(format, byte << 56 | byte)).collect();
            assert!(!texts.is_sorted(), "{format:?}");
        }
    }
}
