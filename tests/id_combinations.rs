//! Every combination of bits, kind, cipher, format, dbFormat, prefix and layout: each that is accepted brings IDs there and back,
//! and each that is refused names the option for a reason that is written down here a second time.

#![allow(clippy::unwrap_used, reason = "a type that cannot be made fails the test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use mintid::cipher::{Algorithm, BaseKey, Keyring, Keys};
use mintid::clock::{Clock, ManualClock};
use mintid::codec::{Format, Text, WideText};
use mintid::error::Error;
use mintid::id::{Base, IdType, Input, Kind, Narrow, Spec, Value, Wide, Width};
use mintid::layout::{Layout, Parts};
use mintid::nonce::{Doubt, Factory, Fence, Opening};

const KINDS: [Kind; 4] =
    [Kind::Counter, Kind::Sortable, Kind::Encrypted { base: Base::Counter }, Kind::Encrypted { base: Base::Sortable }];
const PREFIXES: [(&str, bool); 4] = [("", false), ("usr_", false), ("usr_", true), ("", true)];

fn keys() -> Keyring {
    Keyring::new(Keys { base: Some(BaseKey::new(&[b'k'; 32]).unwrap()), ..Keys::default() }).unwrap()
}

/// NoNoncense's, Stamp's with partitions and an epoch of its own, and one of all 64 bits with partitions.
fn layouts(bits: u32) -> Vec<Layout> {
    let further =
        [Layout::new(3, 41, 9, 10, 1000).unwrap(), Layout::new(4, 42, 9, 9, Layout::DEFAULT_EPOCH_MS).unwrap()];
    let further = if bits == 64 { &further[..] } else { &[] };
    [&[Layout::DEFAULT], further].concat()
}

/// A factory that has counted nothing yet.
fn factory() -> Arc<Factory> {
    let clock = Arc::new(ManualClock::default());
    let factory = Arc::new(Factory::new(Layout::DEFAULT, clock.clone()));
    let fence = Fence { machine: 300, start: 1000, end: 9000 };
    factory.open(Opening { fence, now: 1000, arrived: clock.tick(), extend: None, doubt: Doubt::new(|| {}) });
    factory
}

/// What a width needs beside [`Width`] to be tried out.
trait Tried: Width {
    /// A cipher for masks and encryption; `None` where the width has no such.
    fn cipher(self, keys: &Keyring, algorithm: Algorithm) -> Option<Arc<Self::Cipher>>;
    /// The first number of a type.
    fn first(id_type: &IdType<Self>) -> Result<Self::Number, Error>;
    fn empty() -> Self::Text;
}

impl Tried for Narrow {
    fn cipher(self, keys: &Keyring, algorithm: Algorithm) -> Option<Arc<Self::Cipher>> {
        keys.cipher(None, Some(algorithm), b"", "mask").ok()
    }

    fn first(id_type: &IdType) -> Result<u64, Error> {
        Ok(id_type.number(id_type.source(&factory(), 0)?.next()?))
    }

    fn empty() -> Text {
        Text::new()
    }
}

impl Tried for Wide {
    fn cipher(self, keys: &Keyring, algorithm: Algorithm) -> Option<Arc<Self::Cipher>> {
        keys.wide_cipher(self.size(), None, Some(algorithm), "mask").ok()
    }

    fn first(id_type: &IdType<Self>) -> Result<u128, Error> {
        id_type.source(&factory())?.next()
    }

    fn empty() -> WideText {
        WideText::new()
    }
}

/// A JavaScript value that holds what was written.
fn input<'t>(value: &'t Value<'t>) -> Input<'t> {
    match value {
        Value::Text(text) => Input::Text(text),
        Value::Bytes(bytes) => Input::Bytes(bytes),
        Value::Signed(integer) => Input::Integer((*integer).into()),
        Value::Unsigned(integer) => Input::Integer((*integer).into()),
    }
}

/// There and back, and what lies behind it.
fn assert_round_trips<W: Tried>(id_type: &IdType<W>, what: &str) {
    let number = W::first(id_type).unwrap();
    let (mut text, mut column) = (W::empty(), W::empty());
    let shown = id_type.write_app(number, &mut text);
    assert_eq!(id_type.read_app(input(&shown)), Ok(number), "{what}");
    assert!(id_type.is_canonical(input(&shown)), "{what}");
    let kept = id_type.write_db(number, &mut column);
    assert_eq!(id_type.read_db(input(&kept)), Ok(number), "{what}");
    let seen = id_type.inspect(number);
    let parts =
        Parts { partition: seen.partition, timestamp: seen.timestamp, machine: seen.machine_id, count: seen.sequence };
    let expected = Parts { partition: 0, timestamp: Layout::DEFAULT.unix_ms(1000), machine: 300, count: 0 };
    assert_eq!((parts, seen.kind), (expected, id_type.kind()), "{what}");
}

/// One combination.
#[derive(Debug, Clone, Copy)]
struct Combination {
    kind: Kind,
    mask: Option<Algorithm>,
    encryption: Option<Algorithm>,
    format: Format,
    db_format: Format,
    prefix: (&'static str, bool),
}

/// Which option must be named; `None` for what must be accepted.
fn rule(bits: u32, one: Combination) -> Option<&'static str> {
    let encrypted = matches!(one.kind, Kind::Encrypted { .. });
    if encrypted && one.mask.is_some() {
        return Some("mask");
    }
    if encrypted && one.encryption.is_none() {
        return Some("no key");
    }
    if bits > 64 && one.format.is_numeric() {
        return Some("format");
    }
    if bits > 64 && one.db_format.is_numeric() {
        return Some("dbFormat");
    }
    if bits == 96 && matches!(one.mask, Some(Algorithm::Blowfish | Algorithm::Des3)) {
        return Some("cipher");
    }
    let (prefix, persisted) = one.prefix;
    if persisted && (prefix.is_empty() || one.db_format.is_numeric()) {
        return Some("persistPrefix");
    }
    None
}

fn try_width<W: Tried>(width: W, tally: &mut BTreeMap<(u32, Option<&'static str>), usize>) {
    let (keys, bits) = (keys(), width.size().bits());
    let ciphers: Vec<_> =
        Algorithm::ALL.into_iter().filter(|algorithm| width.cipher(&keys, *algorithm).is_some()).collect();
    let ciphers = || ciphers.iter().copied().map(Some).chain([None]);
    let made = |algorithm: Option<Algorithm>| algorithm.and_then(|algorithm| width.cipher(&keys, algorithm));
    for (layout, kind) in layouts(bits).into_iter().flat_map(|layout| KINDS.map(|kind| (layout, kind))) {
        for (mask, encryption) in ciphers().flat_map(|mask| ciphers().map(move |encryption| (mask, encryption))) {
            for (format, db_format) in Format::ALL.into_iter().flat_map(|app| Format::ALL.map(|db| (app, db))) {
                for prefix in PREFIXES {
                    let one = Combination { kind, mask, encryption, format, db_format, prefix };
                    let spec = Spec {
                        prefix: prefix.0.to_owned(),
                        kind,
                        format,
                        db_format,
                        mask: made(mask),
                        encryption: made(encryption),
                        accepts: Vec::new(),
                        persist_prefix: prefix.1,
                        layout,
                    };
                    let refused = match IdType::of_width(width, spec) {
                        Ok(id_type) => {
                            assert_round_trips(&id_type, &format!("{bits} {one:?}"));
                            None
                        }
                        Err(error) => Some(error.fields().option.unwrap_or("no key")),
                    };
                    assert_eq!(refused, rule(bits, one), "{bits} {one:?}");
                    *tally.entry((bits, refused)).or_default() += 1;
                }
            }
        }
    }
}

#[test]
fn every_combination_round_trips_or_is_refused_by_name() {
    let mut tally = BTreeMap::new();
    try_width(Narrow, &mut tally);
    try_width(Wide::Bits96, &mut tally);
    try_width(Wide::Bits128, &mut tally);
    let accepted: usize = tally.iter().filter(|((_, option), _)| option.is_none()).map(|(_, count)| count).sum();
    let all: usize = tally.values().sum();
    let by_option =
        |option| tally.iter().filter(|((_, other), _)| *other == Some(option)).map(|(_, n)| n).sum::<usize>();
    let options = ["mask", "no key", "format", "dbFormat", "cipher", "persistPrefix"].map(by_option);
    assert_eq!((accepted, all), (84_192, 230_400), "{tally:?}");
    assert_eq!(options, [89_856, 5760, 5760, 4800, 6400, 33_632], "{tally:?}");
}
