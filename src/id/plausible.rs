//! Whether an ID can have been made at all: most guesses cannot, as long as the layout's time has hardly begun. It is
//! neither authentication nor access control: who guesses often enough hits, and who has seen an ID has one.

use super::{IdType, Width};
use crate::codec::Invalid;

/// When IDs of a type may have been made, in milliseconds since 1970, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// When the epoch was first used: no ID is older.
    pub from_unix_ms: u64,
    /// Now, and by how much clocks may differ.
    pub to_unix_ms: u64,
}

impl<W: Width> IdType<W> {
    /// Whether the number of an ID has a timestamp within a window, and nothing that no nonce of the layout has: a bit
    /// above it, its last timestamp, a machine ID that is never leased.
    ///
    /// # Errors
    /// `Implausible`.
    pub fn check_plausible(&self, number: W::Number, window: Window) -> Result<(), Invalid> {
        let (parts, fits) = self.width.unpack(&self.layout, self.encryption.as_deref(), self.nonce(number));
        let made = self.layout.unix_ms(parts.timestamp);
        let plausible = (window.from_unix_ms..=window.to_unix_ms).contains(&made)
            && parts.timestamp < self.layout.end()
            && parts.machine < u64::from(self.layout.machines())
            && fits;
        if plausible { Ok(()) } else { Err(Invalid::Implausible) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::cipher::{Algorithm, Cipher};
    use crate::codec::Format;
    use crate::id::{Input, Kind, Spec};
    use crate::layout::{Layout, Parts};

    const YEAR_MS: u64 = 31_556_952_000;

    fn id_type(layout: Layout, mask: bool, kind: Kind) -> IdType {
        let cipher = Arc::new(Cipher::new(Algorithm::Speck, &[7; 16]).unwrap());
        IdType::new(Spec {
            prefix: "usr_".to_owned(),
            kind,
            format: Format::Base58,
            db_format: Format::Signed,
            mask: mask.then(|| Arc::clone(&cipher)),
            encryption: Some(cipher),
            accepts: Vec::new(),
            persist_prefix: false,
            layout,
        })
        .unwrap()
    }

    proptest! {
        #[test]
        fn what_was_made_within_the_window_is_plausible_and_nothing_else(
            layout in crate::layout::tests::layouts(), number: u64, kind in prop::sample::select(vec![
                Kind::Counter, Kind::Sortable, Kind::Encrypted { base: crate::id::Base::Counter },
            ]),
            a in 0_u64..10 * YEAR_MS, b in 0_u64..10 * YEAR_MS,
        ) {
            let id_type = id_type(layout, false, kind);
            let [a, b] = [a, b].map(|timestamp| timestamp % (layout.end() + 1));
            let window = Window { from_unix_ms: layout.unix_ms(a.min(b)), to_unix_ms: layout.unix_ms(a.max(b)) };
            let parts = layout.unpack(number);
            let machine = parts.machine % u64::from(layout.machines());
            let made = id_type.number(layout.pack(Parts { timestamp: a, machine, ..parts }));
            prop_assert_eq!(id_type.check_plausible(made, window).is_ok(), a < layout.end());
            if let Some(before) = a.min(b).checked_sub(1) {
                let before = id_type.number(layout.pack(Parts { timestamp: before, machine, ..parts }));
                prop_assert_eq!(id_type.check_plausible(before, window), Err(Invalid::Implausible));
            }
        }
    }

    #[test]
    fn what_no_nonce_has_is_implausible() {
        let ever = Window { from_unix_ms: 0, to_unix_ms: u64::MAX };
        let stamp = Layout::new(0, 41, 20, 2, 1000).unwrap();
        let id_type = id_type(stamp, false, Kind::Counter);
        let made = stamp.pack(Parts { partition: 0, timestamp: 5, machine: 32_767, count: 3 });
        assert_eq!(id_type.check_plausible(made, ever), Ok(()));
        for never in [
            made | 1 << 63,
            stamp.pack(Parts { partition: 0, timestamp: stamp.end(), machine: 5, count: 0 }),
            stamp.pack(Parts { partition: 0, timestamp: 5, machine: 32_768, count: 0 }),
        ] {
            assert_eq!(id_type.check_plausible(never, ever), Err(Invalid::Implausible), "{never:x}");
        }
    }

    /// A million guesses that are IDs by their spelling. What passes is the share of the layout's 139 years that has gone
    /// by: 1 in 74 two years after the epoch, 1 in 12 ten years later.
    #[test]
    fn most_guesses_are_implausible() {
        let id_type = id_type(Layout::DEFAULT, true, Kind::Counter);
        let guess = Cipher::new(Algorithm::Speck, &[9; 16]).unwrap();
        let from_unix_ms = Layout::DEFAULT_EPOCH_MS;
        let windows = [2, 12].map(|years| Window { from_unix_ms, to_unix_ms: from_unix_ms + years * YEAR_MS });
        let mut passed = [0_u32; 2];
        let mut text = crate::codec::Text::new();
        for number in 0..1_000_000 {
            text.begin(id_type.prefix());
            Format::Base58.encode(guess.encrypt(number), &mut text);
            let number = id_type.read_app(Input::Text(text.as_bytes())).unwrap();
            for (passed, window) in passed.iter_mut().zip(windows) {
                *passed += u32::from(id_type.check_plausible(number, window).is_ok());
            }
        }
        // 14 351 and 86 104 are expected, with a spread of 120 and 280.
        assert!((13_750..14_950).contains(&passed[0]) && (84_700..87_500).contains(&passed[1]), "{passed:?}");
    }
}
