//! `vectors/01`: the bits of NoNoncense's 64-bit nonces.

#![allow(clippy::unwrap_used, reason = "a vector that cannot be read fails the test")]

mod vectors_support;

use mintid::layout::{Layout, Parts};
use vectors_support::{load, number, rows, text};

#[test]
fn nonces_are_packed_and_unpacked_alike() {
    let vectors = load("01_nonce_anatomy");
    let rows: Vec<_> = rows(&vectors, "vectors").iter().filter(|row| row["bits"] == 64).collect();
    let mut at_the_end = 0;
    for row in &rows {
        let [epoch, unix_ms, timestamp, machine] =
            ["epoch_ms", "unix_ms", "timestamp", "machine_id"].map(|field| row[field].as_u64().unwrap());
        let layout = Layout::new(0, 42, 9, 13, epoch).unwrap();
        let parts = Parts { partition: 0, timestamp, machine, count: text(&row["count"]).parse().unwrap() };
        assert_eq!(layout.pack(parts), number(&row["hex"]), "{row}");
        assert_eq!(layout.unpack(number(&row["hex"])), parts, "{row}");
        assert!(layout.fits(number(&row["hex"])));
        assert_eq!(layout.unix_ms(timestamp), unix_ms, "{row}");
        if timestamp == layout.end() {
            // We read the last millisecond and never mint in it: no counting word can reach "closed".
            assert!(layout.timestamp(unix_ms).is_err());
            at_the_end += 1;
        } else {
            assert_eq!(layout.timestamp(unix_ms).unwrap(), timestamp, "{row}");
        }
    }
    assert_eq!((rows.len(), at_the_end), (119, 18));
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
