//! `vectors/01`: the bits of NoNoncense's nonces. The rows that set a counter first are in `src/nonce/vectors_tests.rs`.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use std::collections::BTreeMap;

use mintid::layout::{Layout, Parts};
use vectors_support::{load, rows, size, text, wide};

#[test]
fn nonces_are_packed_and_unpacked_alike() {
    let vectors = load("01_nonce_anatomy");
    let mut seen = BTreeMap::<(u64, &str), usize>::new();
    let mut at_the_end = 0;
    for row in rows(&vectors, "vectors") {
        let [epoch, unix_ms, timestamp, machine] =
            ["epoch_ms", "unix_ms", "timestamp", "machine_id"].map(|field| row[field].as_u64().unwrap());
        let layout = Layout::new(0, 42, 9, 13, epoch).unwrap();
        let parts = Parts { partition: 0, timestamp, machine, count: text(&row["count"]).parse().unwrap() };
        let (size, nonce) = (size(row), wide(&row["hex"]));
        assert_eq!(layout.pack_sized(size, parts), nonce, "{row}");
        assert_eq!(layout.unpack_sized(size, nonce), parts, "{row}");
        assert!(layout.fits_sized(size, nonce), "{row}");
        assert_eq!(text(&row["hex"]).len(), 2 * size.bytes());
        *seen.entry((size.bits().into(), text(&row["kind"]))).or_default() += 1;
        assert_eq!(layout.unix_ms(timestamp), unix_ms, "{row}");
        if timestamp == layout.end() {
            // We read the last millisecond and never mint in it: no counting word can reach "closed".
            assert!(layout.timestamp(unix_ms).is_err());
            at_the_end += 1;
        } else {
            assert_eq!(layout.timestamp(unix_ms).unwrap(), timestamp, "{row}");
        }
    }
    let expected = [
        ((64, "counter"), 62),
        ((64, "sortable"), 57),
        ((96, "counter"), 61),
        ((96, "sortable"), 57),
        ((128, "counter"), 62),
        ((128, "sortable"), 57),
    ];
    assert_eq!((seen, at_the_end), (BTreeMap::from(expected), 54));
}

#[test]
fn the_default_layout_is_nononcenses() {
    let vectors = load("01_nonce_anatomy");
    assert_eq!(vectors["default_epoch_ms"], Layout::DEFAULT_EPOCH_MS);
    assert_eq!(vectors["layout"]["64"], "ts:42 | machine:9 | count:13");
    assert_eq!(Layout::DEFAULT, Layout::new(0, 42, 9, 13, Layout::DEFAULT_EPOCH_MS).unwrap());
    let limits = rows(&vectors, "machine_id_limits");
    for limit in limits {
        let fits = (0..i64::from(Layout::DEFAULT.machines())).contains(&limit["machine_id"].as_i64().unwrap());
        assert_eq!(limit["result"] == "ok", fits, "{limit}");
    }
    assert_eq!(limits.len(), 4);
}
