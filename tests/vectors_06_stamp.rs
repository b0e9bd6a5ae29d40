//! `vectors/06`: Stamp's layouts, texts, partitions and sequences.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::sync::Arc;

use mintid::clock::{Clock, ManualClock};
use mintid::codec::{Format, Invalid};
use mintid::error::{Code, Error};
use mintid::id::{IdType, Spec};
use mintid::layout::{Layout, Parts};
use mintid::nonce::{Doubt, Factory, Fence, Opening, Order, Source, Space};
use serde_json::Value;
use vectors_support::{Tally, Term, app, load, result, rows, spec, term, text};

const BASE58: Format = Format::Base58Unpadded;
const BASE62: Format = Format::Base62Unpadded;
const INTEGER: Format = Format::DecimalUnpadded;

/// The fields of a row, 0 where it has none.
fn fields<const N: usize>(row: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| match &row[name] {
        Value::String(decimal) => decimal.parse().unwrap(),
        number => number.as_u64().unwrap_or_default(),
    })
}

fn layout_of(row: &Value) -> Layout {
    let [partition, time, node, sequence, epoch] =
        fields(row, ["partition_bits", "time_bits", "node_bits", "sequence_bits", "epoch_ms"]);
    Layout::foreign(partition as u32, time as u32, node as u32, sequence as u32, epoch).unwrap()
}

#[test]
fn every_layout_packs_and_unpacks_and_every_codec_spells_alike() {
    let vectors = load("06_stamp");
    let rows = rows(&vectors, "vectors");
    let mut texts = 0;
    for row in rows {
        let layout = self::rows(&vectors, "layouts").iter().find(|layout| layout["name"] == row["layout"]);
        let layout = layout.map(layout_of).unwrap();
        let [partition, timestamp, machine, count, int, unix_ms] =
            fields(row, ["partition", "time_rel", "node", "sequence", "int", "time_unix_ms"]);
        let parts = Parts { partition, timestamp, machine, count };
        assert_eq!(layout.pack(parts), int, "{row}");
        assert_eq!(layout.unpack(int), parts, "{row}");
        assert!(layout.fits(int) && !layout.fits(int | 1 << 63));
        let unpacked = fields(row, ["unpacked_partition", "unpacked_node", "unpacked_sequence", "unpacked_time"]);
        assert_eq!(unpacked, [partition, machine, count, layout.unix_ms(timestamp)], "{row}");
        assert_eq!(layout.unix_ms(timestamp), unix_ms);
        for (format, codec) in [(BASE58, "base58"), (BASE62, "base62"), (INTEGER, "integer")] {
            for (prefix, column) in [("", codec.to_owned()), ("u_", format!("{codec}_prefix_u_"))] {
                let id_type = IdType::new(spec(prefix, format)).unwrap();
                let expected = Term::Binary(text(&row[&column]).into());
                assert_eq!(app(&id_type, int), expected, "{row} {column}");
                assert_eq!(id_type.read_app(expected.input(format)), Ok(int), "{row} {column}");
                texts += 1;
            }
        }
    }
    assert_eq!((rows.len(), texts), (116, 696));
}

#[test]
fn partitions_have_the_same_ranges_and_strangers_are_refused() {
    let vectors = load("06_stamp");
    let (mut alike, mut refused) = (0, 0);
    for row in rows(&vectors, "partition_range") {
        let [bits, partition] = fields(row, ["partition_bits", "partition"]);
        let layout = Layout::new(bits as u32, 41, 0, 22 - bits as u32, 1000).unwrap();
        match layout.partition_range(partition) {
            Ok((start, end)) => {
                assert_eq!(text(&row["start"]), start.to_string(), "{row}");
                assert_eq!(text(&row["end_exclusive"]), end.to_string(), "{row}");
                alike += 1;
            }
            Err(error) => {
                // Stamp does not look whether there is such a partition (S28).
                assert!(partition >= 1 << bits, "{row}");
                assert_eq!(error.fields().option, Some("partition"));
                refused += 1;
            }
        }
    }
    assert_eq!((alike, refused), (22, 5));
}

/// A factory of a layout whose one lease begins at the layout's first timestamp but one, and never ends.
fn factory(layout: Layout, machine: u32) -> Arc<Factory> {
    let clock = Arc::new(ManualClock::default());
    let factory = Arc::new(Factory::new(layout, clock.clone()));
    // A lease that is renewed, so that times ahead of its own may be given; ours, unlike Stamp's, are bounded.
    let fence = Fence { machine, start: 1, end: layout.end() - 1 };
    factory.open(Opening { fence, now: 1, arrived: clock.tick(), extend: None, doubt: Doubt::new(|| {}) });
    factory
}

fn source(layout: Layout, machine: u32) -> Source {
    factory(layout, machine).source(Space::new(Order::Sortable, layout)).unwrap()
}

#[test]
fn sequences_go_on_alike() {
    let vectors = load("06_stamp");
    let layout = Layout::new(0, 41, 20, 2, 1).unwrap();
    let mut made = 0;
    for row in rows(&vectors, "sequences") {
        assert_eq!(row["layout"], "n20 s2 (epoch 1, node 12)");
        let source = source(layout, 12);
        for (time, int) in row["times_unix_ms"].as_array().unwrap().iter().zip(row["ints"].as_array().unwrap()) {
            assert_eq!(source.next_at(time.as_u64().unwrap()).unwrap().to_string(), text(int), "{row}");
            made += 1;
        }
    }
    assert_eq!((rows(&vectors, "sequences").len(), made), (4, 25));
}

/// What Stamp does at the end of a layout: IDs of 64 bits, or of another partition. We end before.
#[test]
fn the_end_of_time_is_an_error() {
    let vectors = load("06_stamp");
    for (row, partition) in rows(&vectors, "time_overflow").iter().zip([0, 2]) {
        let layout = Layout::foreign(partition, 4, 57 - partition, 2, 1).unwrap();
        let source = source(layout, 5);
        assert!(row["ints"].as_array().unwrap().len() == 6);
        assert_eq!(source.next_at(16).unwrap_err().code(), Code::Time);
    }
    assert_eq!(rows(&vectors, "time_overflow").len(), 2);
}

#[test]
fn options_are_taken_and_refused_alike_where_both_have_them() {
    let vectors = load("06_stamp");
    let of = |partition, time, node, sequence, epoch| Layout::new(partition, time, node, sequence, epoch);
    let mut differences = Tally::new();
    for row in rows(&vectors, "config") {
        let ours = match text(&row["desc"]) {
            "sum 62" => of(0, 41, 7, 14, 1),
            "sum 64" => of(0, 41, 7, 16, 1),
            "node_bits 0 without fun" => of(0, 41, 0, 22, 1),
            "partition_bits with fun" => of(8, 41, 7, 7, 1),
            "time_bits 0" => of(0, 0, 48, 15, 1),
            "sequence_bits 0" => of(0, 41, 22, 0, 1),
            "epoch 0" => of(0, 41, 7, 15, 0),
            "node_fun only" | "epoch 1" => of(0, 41, 7, 15, 1),
            // Functions, modules, types and negative numbers: the JavaScript side's.
            _ => {
                *differences.entry("an option of Elixir's, or no number of bits").or_default() += 1;
                continue;
            }
        };
        let difference = match (row["result"] == "ok", ours) {
            (true, Ok(_)) => "none: both take it",
            (false, Err(error)) => {
                assert_eq!(error.fields().option, Some("layout"));
                "none: both refuse it"
            }
            (false, Ok(_)) => "ours may have 64 bits, or fewer than 63, and an epoch of 0",
            (true, Err(error)) => unreachable!("{row}: {error}"),
        };
        *differences.entry(difference).or_default() += 1;
    }
    let expected = [
        ("an option of Elixir's, or no number of bits", 11),
        ("none: both refuse it", 2),
        ("none: both take it", 4),
        ("ours may have 64 bits, or fewer than 63, and an epoch of 0", 3),
    ];
    assert_eq!(differences, Tally::from(expected));
}

/// A made ID, or the option or code of the refusal.
fn generated(desc: &str, default: Layout, partitioned: Layout) -> Result<u64, Error> {
    let epoch = default.epoch_ms();
    let fence = |machine, at| Fence::new(&default, machine, at, at + 1000).map(|_| 0);
    let partition = |partition: u64| {
        let space = Space::new(Order::Sortable, partitioned).in_partition(partition)?;
        let made = factory(partitioned, 1).source(space)?.next_at(epoch + 1)?;
        // The row was made at the epoch itself, where no lease of ours begins.
        Ok(made & !(1 << (partitioned.machine_bits() + partitioned.sequence_bits())))
    };
    match desc {
        "node 127 ok" => fence(127, epoch + 1).map(|_| 127 << default.sequence_bits()),
        "node 128" => fence(128, epoch + 1),
        "time = epoch - 1" => fence(1, epoch - 1),
        "time = epoch" => fence(1, epoch),
        "time = epoch + 2^41 - 1" => fence(1, epoch + (1 << 41) - 1),
        "time = epoch + 2^41" => fence(1, epoch + (1 << 41)),
        "partition option without partition bits" => Space::new(Order::Sortable, default).in_partition(1).map(|_| 0),
        "partition 255" => partition(255),
        "partition 256" => partition(256),
        "partition 0 explicit" => partition(0),
        desc => unreachable!("{desc}"),
    }
}

#[test]
fn ids_are_made_and_refused_alike_but_for_the_first_and_last_millisecond() {
    let vectors = load("06_stamp");
    let named =
        |name: &str| rows(&vectors, "layouts").iter().find(|layout| layout["name"] == name).map(layout_of).unwrap();
    let (default, partitioned) = (named("defaults"), named("p8"));
    let mut differences = Tally::new();
    for row in rows(&vectors, "generation") {
        let desc = text(&row["desc"]);
        if ["node -1", "node nil", "node \"1\"", "partition -1"].contains(&desc) {
            *differences.entry("no number: the JavaScript side's").or_default() += 1;
            continue;
        }
        let difference = match (row["result"] == "ok", generated(desc, default, partitioned)) {
            (true, Ok(made)) => {
                assert_eq!(text(&row["int"]), made.to_string(), "{row}");
                "none: both make it"
            }
            (false, Err(_)) => "none: both refuse it",
            (true, Err(error)) => {
                assert_eq!(error.code(), Code::Time);
                "the first and the last millisecond are not used"
            }
            (false, Ok(made)) => unreachable!("{row}: {made}"),
        };
        *differences.entry(difference).or_default() += 1;
    }
    let expected = [
        ("no number: the JavaScript side's", 4),
        ("none: both make it", 3),
        ("none: both refuse it", 5),
        ("the first and the last millisecond are not used", 2),
    ];
    assert_eq!(differences, Tally::from(expected));
}

/// The types that stand for Stamp's configurations.
fn configured(name: &str) -> IdType {
    let (format, prefix) = match name {
        "base58" => (BASE58, ""),
        "base62" => (BASE62, ""),
        "base62 u_" => (BASE62, "u_"),
        "integer" => (INTEGER, ""),
        "integer u_" => (INTEGER, "u_"),
        "no codec" => (Format::Signed, ""),
        name => unreachable!("{name}"),
    };
    let layout = Layout::new(0, 41, 7, 15, 1_784_842_980_000).unwrap();
    IdType::new(Spec { layout, ..spec(prefix, format) }).unwrap()
}

/// The name of the difference between what Stamp reads and what we read; both must read one number.
fn difference(found: &Term, stamp: Option<i128>, ours: Result<u64, Invalid>) -> &'static str {
    match (stamp, ours) {
        (None, Err(_)) => "none: both refuse it",
        (Some(stamp), Ok(ours)) => {
            assert_eq!(stamp, i128::from(ours), "{found:?}");
            "none: both read it alike"
        }
        (None, Ok(u64::MAX)) if found == &Term::Integer(-1) => "a signed bigint has 64 bits",
        (None, Ok(ours)) => {
            assert_eq!(found, &Term::Binary(ours.cast_signed().to_string().into()));
            "the decimal text of a bigint"
        }
        (Some(_), Err(Invalid::Type)) if matches!(found, Term::Integer(_)) => "an integer where text belongs (S24)",
        (Some(_), Err(Invalid::Range | Invalid::Length)) => "past 64 bits, or 63 of a signed bigint (S24)",
        (Some(_), Err(Invalid::NotCanonical)) => "zeros in front (S24)",
        (Some(stamp), Err(Invalid::Character)) if stamp < 0 => "a negative number (S24)",
        (stamp, ours) => unreachable!("{found:?}: {stamp:?} {ours:?}"),
    }
}

#[test]
fn values_are_read_alike_or_refused_for_a_reason() {
    let vectors = load("06_stamp");
    let (mut differences, mut unpacked) = (Tally::new(), 0);
    for row in rows(&vectors, "parse") {
        let found = term(row["in"].as_array().unwrap());
        for (config, stamp) in row["to_integer"].as_object().unwrap() {
            let id_type = configured(config);
            let stamp = (stamp[0] == "ok").then(|| text(&stamp[1]).parse().unwrap_or(i128::MAX));
            let ours = id_type.read_app(found.input(Format::Hex));
            *differences.entry(difference(&found, stamp, ours)).or_default() += 1;
            let (Ok(ours), [ok, time, node, sequence]) = (ours, row["unpack"][config].as_array().unwrap().as_slice())
            else {
                continue;
            };
            assert_eq!(ok, "ok");
            let seen = id_type.inspect(ours);
            let seen = [seen.timestamp, seen.machine_id, seen.sequence].map(Some);
            assert_eq!(seen, [time, node, sequence].map(Value::as_u64), "{row} {config}");
            unpacked += 1;
        }
    }
    let expected = [
        ("a negative number (S24)", 2),
        ("a signed bigint has 64 bits", 1),
        ("an integer where text belongs (S24)", 25),
        ("none: both read it alike", 19),
        ("none: both refuse it", 135),
        ("past 64 bits, or 63 of a signed bigint (S24)", 10),
        ("the decimal text of a bigint", 5),
        ("zeros in front (S24)", 7),
    ];
    assert_eq!((differences, unpacked), (Tally::from(expected), 19));
}

#[test]
fn ecto_casts_dumps_and_loads_alike_or_we_refuse_for_a_reason() {
    let vectors = load("06_stamp");
    let mut differences = Tally::new();
    for row in rows(&vectors, "ecto") {
        let found = term(row["in"].as_array().unwrap());
        for (config, dumped) in row["dump"].as_object().unwrap() {
            let id_type = configured(config);
            let ours = id_type.read_app(found.input(Format::Hex));
            let dumped = match result(dumped) {
                Some(Term::Integer(dumped)) => Some(dumped),
                Some(Term::Nil) => {
                    assert_eq!(ours, Err(Invalid::Type), "null is the adapters' (S25)");
                    *differences.entry("null is not an ID").or_default() += 1;
                    continue;
                }
                None => None,
                other => unreachable!("{other:?}"),
            };
            *differences.entry(difference(&found, dumped, ours)).or_default() += 1;
            if ours.is_ok() && dumped.is_some() {
                // A cast leaves the value as it is, and so do we.
                assert_eq!(result(&row["cast"][config]).as_ref(), Some(&found), "{row} {config}");
                assert!(id_type.is_canonical(found.input(Format::Hex)));
            }
            let Some(loaded) = row["load"].get(config).and_then(result) else { continue };
            let Ok(number) = id_type.read_db(found.input(Format::Signed)) else { continue };
            assert_eq!(app(&id_type, number), loaded, "{row} {config}");
            *differences.entry("loads: alike").or_default() += 1;
        }
    }
    let expected = [
        ("a negative number (S24)", 1),
        ("a signed bigint has 64 bits", 1),
        ("an integer where text belongs (S24)", 8),
        ("loads: alike", 9),
        ("none: both read it alike", 5),
        ("none: both refuse it", 24),
        ("null is not an ID", 3),
        ("past 64 bits, or 63 of a signed bigint (S24)", 1),
        ("the decimal text of a bigint", 2),
    ];
    assert_eq!(differences, Tally::from(expected));
}
