//! Ranges of time and of partitions.

use proptest::prelude::*;

use super::*;
use crate::id::{Base, Spec};
use crate::layout::Layout;

fn id_type(kind: Kind, db_format: Format, layout: Layout) -> IdType {
    IdType::new(Spec {
        prefix: String::new(),
        kind,
        format: Format::Hex,
        db_format,
        mask: None,
        encryption: Some(std::sync::Arc::new(crate::cipher::Speck64::new(&[7; 16]).into())),
        accepts: Vec::new(),
        persist_prefix: false,
        layout,
    })
    .unwrap()
}

#[test]
fn a_range_of_time_is_half_open_and_taken_to_the_ends_of_the_layout() {
    let sortable = |layout| id_type(Kind::Sortable, Format::Signed, layout);
    let default = sortable(Layout::DEFAULT);
    let epoch = Layout::DEFAULT_EPOCH_MS as i64;
    assert_eq!(default.range(epoch + 1, epoch + 3).unwrap(), (1 << 22, 3 << 22));
    assert_eq!(default.range(epoch + 1, epoch + 1).unwrap(), (1 << 22, 1 << 22));
    assert_eq!(default.range(i64::MIN, epoch + 1).unwrap(), (0, 1 << 22));
    assert_eq!(default.range(0, 1).unwrap(), (0, 0));
    let short = Layout::new(0, 41, 7, 15, Layout::DEFAULT_EPOCH_MS).unwrap();
    assert_eq!(sortable(short).range(epoch, i64::MAX).unwrap(), (0, short.end() << 22));
    let error = default.range(epoch + 1, epoch).unwrap_err();
    assert_eq!((error.code(), error.fields().option), (Code::Config, Some("to")));
}

#[test]
fn a_range_that_a_column_cannot_say_is_refused() {
    let of = |kind, db_format| id_type(kind, db_format, Layout::DEFAULT);
    let turn = Layout::DEFAULT.unix_ms(1 << 41) as i64;
    let signed = of(Kind::Sortable, Format::Signed);
    for (from, to) in [(turn - 1, turn), (turn - 1, turn + 1), (0, i64::MAX)] {
        assert_eq!(signed.range(from, to).unwrap_err().code(), Code::Time);
        for free in [Format::Unsigned, Format::Raw, Format::Base58] {
            assert!(of(Kind::Sortable, free).range(from, to).is_ok());
        }
    }
    assert!(signed.range(turn - 2, turn - 1).is_ok());
    assert!(signed.range(turn, turn + 1).is_ok());
    let option = |id_type: &IdType| id_type.range(0, 1).unwrap_err().fields().option;
    assert_eq!(option(&of(Kind::Counter, Format::Signed)), Some("kind"));
    for unsorted in [Format::Url64, Format::Base58Unpadded] {
        assert_eq!(option(&of(Kind::Sortable, unsorted)), Some("dbFormat"));
    }
}

#[test]
fn a_partition_is_a_range_of_the_column() {
    let of = |db_format, partition, time| {
        id_type(Kind::Counter, db_format, Layout::new(partition, time, 9, 63 - partition - time - 9, 0).unwrap())
    };
    let stamp = of(Format::Signed, 8, 41);
    assert_eq!(stamp.partition_range(0), Ok((0, Some(1 << 55))));
    assert_eq!(stamp.partition_range(255), Ok((255 << 55, None)));
    assert_eq!(of(Format::Unsigned, 8, 41).partition_range(255), Ok((255 << 55, Some(1 << 63))));
    assert_eq!(of(Format::Signed, 0, 41).partition_range(0), Ok((0, None)));
    // All 64 bits: the upper half of the partitions is negative, and ends with zero.
    let full = |db_format| id_type(Kind::Sortable, db_format, Layout::new(2, 42, 9, 11, 0).unwrap());
    let signed = full(Format::Signed);
    assert_eq!(
        [0, 1, 2, 3].map(|partition| signed.partition_range(partition).unwrap()),
        [(0, Some(1 << 62)), (1 << 62, None), (1 << 63, Some(3 << 62)), (3 << 62, Some(0)),]
    );
    for format in [Format::Unsigned, Format::Raw, Format::Base58, Format::Decimal] {
        assert_eq!(full(format).partition_range(1), Ok((1 << 62, Some(1 << 63))));
        assert_eq!(full(format).partition_range(3), Ok((3 << 62, None)));
    }
    assert_eq!(signed.partition_range(4).unwrap_err().fields().option, Some("partition"));
    assert_eq!(signed.range_in(4, 0, 1).unwrap_err().fields().option, Some("partition"));
    let unsorted = full(Format::DecimalUnpadded);
    assert_eq!(unsorted.partition_range(0).unwrap_err().fields().option, Some("dbFormat"));
    let encrypted = id_type(Kind::Encrypted { base: Base::Sortable }, Format::Signed, *signed.layout());
    assert_eq!(encrypted.partition_range(0).unwrap_err().fields().option, Some("kind"));
    let whole = id_type(Kind::Sortable, Format::Signed, Layout::DEFAULT);
    assert_eq!(whole.partition_range(0).unwrap_err().code(), Code::Time);
    assert_eq!(id_type(Kind::Sortable, Format::Unsigned, Layout::DEFAULT).partition_range(0), Ok((0, None)));
}

/// What a signed or unsigned bigint column compares by.
fn column(id_type: &IdType, number: u64) -> i128 {
    if id_type.db.format == Format::Signed { number.cast_signed().into() } else { number.into() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// As a database would: `db >= gte and db < lt` holds for exactly the IDs that were made there and then.
    #[test]
    fn a_range_holds_exactly_what_was_made_in_it(
        layout in crate::layout::tests::layouts(), number: u64, signed: bool, near in -3_i64..3, length in 0_i64..5, other: u64,
    ) {
        let id_type = id_type(Kind::Sortable, if signed { Format::Signed } else { Format::Unsigned }, layout);
        let nonce = number & (layout.partition_range(layout.partitions() - 1).unwrap().1 - 1) as u64;
        let parts = layout.unpack(nonce);
        let partition = if other % 4 == 0 { other % layout.partitions() } else { parts.partition };
        let at = |nonce| column(&id_type, nonce);
        if let Ok((from, to)) = id_type.partition_range(partition) {
            let inside = at(from) <= at(nonce) && to.is_none_or(|to| at(nonce) < at(to));
            prop_assert_eq!(inside, parts.partition == partition);
        }
        let from_ms = layout.unix_ms(parts.timestamp) as i64 + near;
        let Ok((from, to)) = id_type.range_in(partition, from_ms, from_ms + length) else { return Ok(()) };
        prop_assume!(parts.timestamp < layout.end());
        let made = layout.unix_ms(parts.timestamp) as i64;
        let expected = parts.partition == partition && (from_ms..from_ms + length).contains(&made);
        prop_assert_eq!(at(from) <= at(nonce) && at(nonce) < at(to), expected);
    }
}
