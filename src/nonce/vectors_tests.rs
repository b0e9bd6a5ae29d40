//! The rows of `vectors/01` that set a counter first: here, since nobody outside can set one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::bench::{Bench, LAYOUT};
use super::word::Shape;
use super::{Fence, Opening, Order, Source, WideSource};
use crate::error::{Code, Error};
use crate::layout::Size;

const SHAPE: Shape = Shape::of(LAYOUT);

fn load() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/01_nonce_anatomy.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rows<'v>(vectors: &'v Value, list: &str) -> &'v [Value] {
    vectors[list].as_array().unwrap()
}

fn number(decimal: &Value) -> u64 {
    decimal.as_str().unwrap().parse().unwrap()
}

fn hexes(list: &Value) -> Vec<Option<String>> {
    list.as_array().unwrap().iter().map(|hex| Some(hex.as_str().unwrap().to_owned())).collect()
}

/// Both sources of one kind under a lease that lasts to the end of the layout.
struct Original {
    bench: Bench,
    machine: u64,
    narrow: Source,
    wide: WideSource,
}

impl Original {
    fn new(order: Order, machine: &Value, start: u64, now: u64) -> Self {
        let (bench, machine) = (Bench::new(), machine.as_u64().unwrap());
        bench.factory.open(Opening { now, ..bench.opening(machine as u32, start, LAYOUT.end(), None) });
        Self { narrow: bench.source(order), wide: bench.wide_source(order), bench, machine }
    }

    /// Sets the last `timestamp | count` that 64 bits gave out.
    fn set_narrow(&self, last: u64) {
        self.narrow
            .sequence
            .word
            .open(SHAPE.first_at(self.machine, 0) + last, SHAPE.first_at(self.machine, LAYOUT.end()));
    }

    fn next(&self, bits: &Value) -> Result<String, Error> {
        let size = Size::of_bits(bits.as_u64().unwrap() as u32).unwrap();
        let nonce = match size {
            Size::Bits64 => self.narrow.next()?.into(),
            size => self.wide.next(size)?,
        };
        Ok(format!("{nonce:0width$x}", width = 2 * size.bytes()))
    }
}

#[test]
fn counters_go_on_alike_and_end_where_the_originals_repeat_themselves() {
    let vectors = load();
    let rows = rows(&vectors, "sequences");
    let (mut alike, mut ended) = (0, 0);
    for row in rows {
        let start = row["init_at"].as_u64().unwrap().min(LAYOUT.end() - 1);
        let original = Original::new(Order::Counter, &row["machine_id"], start, LAYOUT.end() - 1);
        let before = number(&row["counter_before"]);
        if row["counter"] == "c64" {
            original.set_narrow(before);
        } else {
            original.wide.set(before.wrapping_add(1));
        }
        let made: Vec<_> = row["calls_bits"].as_array().unwrap().iter().map(|bits| original.next(bits).ok()).collect();
        if made == hexes(&row["hex"]) {
            alike += 1;
        } else {
            // A timestamp that wraps, or a counter that begins again, one count after we stop.
            let desc = row["desc"].as_str().unwrap();
            assert!(desc.contains("wraps silently") || desc.contains("(repeat!)"), "{row} {made:?}");
            assert!(made.iter().all(Option::is_none), "{row} {made:?}");
            ended += 1;
        }
    }
    assert_eq!((alike, ended, rows.len()), (7, 3, 10));
}

#[test]
fn sortable_nonces_come_out_alike_and_wait_where_the_originals_repeat_or_go_back() {
    let vectors = load();
    let rows = rows(&vectors, "sortable_behaviour");
    let (mut alike, mut waited) = (0, 0);
    for row in rows {
        let (clock, before) = (row["clock"].as_u64().unwrap(), number(&row["sortable_counter_before"]));
        let original = Original::new(Order::Sortable, &row["machine_id"], 1000, clock);
        let (timestamp, count) = (before >> 22, before & ((1 << 22) - 1));
        // Theirs is one for all sizes; ours of 64 bits has no counts that 64 bits cannot show.
        original.set_narrow(SHAPE.first_at(0, timestamp) + count.min(8191));
        original.wide.set(before);
        let next_ms = timestamp.max(clock) + 1;
        let (full, hex) = (row["desc"].as_str().unwrap(), row["hex"].as_str().unwrap());
        if full.contains("repeat!") || full.contains("busy-wait") || full.contains("ahead of the clock") {
            let (bits, manual) = (row["bits"].clone(), Arc::clone(&original.bench.clock));
            let waiting = std::thread::spawn(move || original.next(&bits).unwrap());
            manual.advance(Duration::from_millis(next_ms - clock));
            let made = u128::from_str_radix(&waiting.join().unwrap(), 16).unwrap();
            let size = Size::of_bits(row["bits"].as_u64().unwrap() as u32).unwrap();
            let parts = LAYOUT.unpack_sized(size, made);
            assert_eq!((parts.timestamp, parts.count), (next_ms, 0), "{row}");
            let same = made == u128::from_str_radix(hex, 16).unwrap();
            assert_eq!(same, full.contains("busy-wait"), "{row}");
            waited += 1;
        } else {
            assert_eq!(original.next(&row["bits"]).unwrap(), hex, "{row}");
            alike += 1;
        }
    }
    assert_eq!((alike, waited, rows.len()), (7, 3, 10));
}

#[test]
fn a_counter_of_64_bits_waits_until_its_time_has_come() {
    let vectors = load();
    for row in rows(&vectors, "wait_until") {
        let (hex, timestamp) = (row["hex"].as_str().unwrap().to_owned(), row["timestamp"].as_u64().unwrap());
        let machine = LAYOUT.unpack(u64::from_str_radix(&hex, 16).unwrap()).machine.into();
        let original = Original::new(Order::Counter, &machine, 1000, 1000);
        original.set_narrow(SHAPE.first_at(0, timestamp) - 1);
        let clock = Arc::clone(&original.bench.clock);
        let waiting = std::thread::spawn(move || original.next(&64.into()).unwrap());
        clock.advance(Duration::from_millis(timestamp - 1000));
        assert_eq!(waiting.join().unwrap(), hex);
    }
    assert_eq!(rows(&vectors, "wait_until").len(), 1);
}

#[test]
fn no_lease_begins_past_the_end_of_time() {
    let vectors = load();
    let end = LAYOUT.end_unix_ms() + 1;
    for (row, start) in rows(&vectors, "timestamp_overflow_at_init").iter().zip([end - 10_000, end + 10_000]) {
        let fence = Fence::new(&LAYOUT, 0, start, u64::MAX);
        let ok = row["result"].as_str().unwrap().starts_with("ok");
        assert_eq!(ok, fence.is_ok(), "{row}");
        assert!(fence.err().is_none_or(|error| error.code() == Code::Time));
        // What they log, and we warn of.
        assert_eq!(ok, LAYOUT.days_left(start).is_some());
    }
    assert_eq!(
        (rows(&vectors, "timestamp_overflow_at_init").len(), rows(&vectors, "sortable_clock_overflow").len()),
        (2, 1)
    );
}
