//! What an ID costs on the Rust side, in nanoseconds and in instructions; the border to JavaScript is not in it.
//!
//! `cargo bench --no-default-features --bench pipeline` prints two tables. Times are the least and the median of many
//! rounds in which all contenders run in turn. Instructions are counted by `valgrind --tool=callgrind`, where that is
//! installed, in this program run as `pipeline --instructions one|block <n>`, which makes `n` IDs and ends: they do not
//! depend on what else the machine does.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be set up has nothing to tell")]

use std::env;
use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use mintid::cipher::{Algorithm, Cipher, Speck64};
use mintid::clock::{Clock, ManualClock, SystemClock};
use mintid::codec::{Format, Text, base58, url64};
use mintid::id::{IdType, Kind, Spec};
use mintid::layout::{Layout, Size};
use mintid::nonce::{Doubt, Factory, Fence, Opening, Order, Source, Space};

/// IDs in a large block: as many as JavaScript keeps ready at the most.
const LARGE: usize = 256;

fn main() {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--instructions", what, n] => make(what, n.parse().unwrap()),
        _ if arguments.contains(&"--bench") => {
            print_times(300);
            print_instructions();
        }
        // `cargo test --all-targets` looks whether it runs.
        _ => print_times(1),
    }
}

fn print_times(rounds: usize) {
    let mut contenders: Vec<_> = ciphers().into_iter().chain(texts()).chain(counts()).chain(pipelines()).collect();
    for round in 0..=rounds {
        for Contender { ids, run, times, .. } in &mut contenders {
            let start = SystemClock.tick();
            run();
            let time = SystemClock.tick().since(start);
            // The first round warms up.
            if round > 0 {
                times.push(time.as_secs_f64() * 1e9 / f64::from(*ids));
            }
        }
    }
    println!("{:52}{:>10}{:>10}", "nanoseconds an ID", "least", "median");
    for Contender { name, times, .. } in &mut contenders {
        times.sort_by(f64::total_cmp);
        println!("{name:52}{:10.2}{:10.2}", times[0], times[times.len() / 2]);
    }
}

fn print_instructions() {
    const IDS: u32 = 400 * LARGE as u32;
    println!("\n{:52}{:>10}", "instructions an ID", "count");
    for (what, name) in [("one", "a whole ID: usr_ and masked base58"), ("block", "masked base58 in blocks of 256")] {
        // What starting takes is in both.
        match (count_instructions(what, 0), count_instructions(what, IDS)) {
            (Some(start), Some(all)) => println!("{name:52}{:10.1}", (all - start) / f64::from(IDS)),
            _ => println!("{name:52}{:>10}", "?"),
        }
    }
}

/// `None` without valgrind.
fn count_instructions(what: &str, n: u32) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env::current_exe().ok()?)
        .args(["--instructions", what, &n.to_string()])
        .output()
        .ok()?;
    let report = String::from_utf8(output.stderr).ok()?;
    report.split_once("Collected : ")?.1.split_whitespace().next()?.parse().ok()
}

/// Makes `n` IDs and nothing else.
fn make(what: &str, n: usize) {
    let mut pipeline = Pipeline::new(Kind::Counter, Format::Base58, true);
    match what {
        "one" => (0..n).for_each(|_| pipeline.one()),
        "block" => (0..n / LARGE).for_each(|_| pipeline.block(LARGE)),
        _ => eprintln!("expected one or block, found {what}"),
    }
}

/// Something to measure.
struct Contender {
    name: &'static str,
    /// How many IDs `run` makes.
    ids: u32,
    run: Box<dyn FnMut()>,
    /// Nanoseconds an ID, of each round.
    times: Vec<f64>,
}

/// Runs `block`, which makes [`LARGE`] IDs, so often that looking at the clock does not count.
fn contender(name: &'static str, mut block: impl FnMut() + 'static) -> Contender {
    const BLOCKS: usize = 32;
    let run = move || (0..BLOCKS).for_each(|_| block());
    Contender { name, ids: (BLOCKS * LARGE) as u32, run: Box::new(run), times: Vec::new() }
}

fn ciphers() -> Vec<Contender> {
    let in_blocks = |name, size: usize| {
        let (cipher, mut numbers) = (cipher(), numbers());
        contender(name, move || {
            for block in black_box(&mut numbers).chunks_exact_mut(size) {
                cipher.encrypt_in_place(block);
            }
        })
    };
    let (cipher, mut numbers) = (cipher(), numbers());
    vec![
        contender("Speck one by one", move || {
            for number in black_box(&mut numbers) {
                *number = black_box(cipher.encrypt(*number));
            }
        }),
        in_blocks("Speck in blocks of 8", 8),
        in_blocks("Speck in blocks of 64", 64),
        in_blocks("Speck in blocks of 256", LARGE),
    ]
    .into_iter()
    .chain(further_ciphers())
    .collect()
}

/// Those that a mask can have instead.
fn further_ciphers() -> Vec<Contender> {
    let names = [
        (Algorithm::Aes, "AES (FF1) one by one", "AES (FF1) in blocks of 8", "AES (FF1) in blocks of 256"),
        (Algorithm::Blowfish, "Blowfish one by one", "Blowfish in blocks of 8", "Blowfish in blocks of 256"),
        (Algorithm::Des3, "Triple DES one by one", "Triple DES in blocks of 8", "Triple DES in blocks of 256"),
    ];
    let of = |algorithm: Algorithm| {
        let key = [7; 32];
        Cipher::new(algorithm, &key[..algorithm.key_length(Size::Bits64).unwrap()]).unwrap()
    };
    let in_blocks = |name, algorithm, size: usize| {
        let (cipher, mut numbers) = (of(algorithm), numbers());
        contender(name, move || {
            for block in black_box(&mut numbers).chunks_exact_mut(size) {
                cipher.encrypt_in_place(block);
            }
        })
    };
    let one_by_one = |name, algorithm| {
        let (cipher, mut numbers) = (of(algorithm), numbers());
        contender(name, move || {
            for number in black_box(&mut numbers) {
                *number = black_box(cipher.encrypt(*number));
            }
        })
    };
    names
        .into_iter()
        .flat_map(|(algorithm, one, eight, large)| {
            [one_by_one(one, algorithm), in_blocks(eight, algorithm, 8), in_blocks(large, algorithm, LARGE)]
        })
        .collect()
}

fn texts() -> Vec<Contender> {
    fn write<const N: usize>(name: &'static str, encode: impl Fn(u64) -> [u8; N] + 'static) -> Contender {
        let numbers = numbers();
        contender(name, move || {
            for &number in black_box(&numbers) {
                black_box(encode(number));
            }
        })
    }
    let write_block = |name, format: Format| {
        let (numbers, mut texts) = (numbers(), [0; 16 * LARGE]);
        contender(name, move || {
            format.encode_block(black_box(&numbers), &mut texts);
            black_box(&texts);
        })
    };
    let read = |name, format: Format| {
        let mut texts = [0; 16 * LARGE];
        let length = format.encode_block(&numbers(), &mut texts).unwrap();
        contender(name, move || {
            for text in black_box(&texts).chunks_exact(length).take(LARGE) {
                _ = black_box(format.decode(text));
            }
        })
    };
    vec![
        write("base58 written one by one", base58::encode),
        write_block("base58 written in blocks of 256", Format::Base58),
        read("base58 read", Format::Base58),
        write("url64 written one by one", url64::encode),
        write_block("url64 written in blocks of 256", Format::Url64),
        read("url64 read", Format::Url64),
        write_block("hex written in blocks of 256", Format::Hex),
        write_block("hex32 written in blocks of 256", Format::Hex32),
    ]
}

fn counts() -> Vec<Contender> {
    fn one_by_one(source: &Source) {
        for _ in 0..LARGE {
            black_box(source.next().unwrap());
        }
    }
    fn in_a_block(source: &Source) {
        let mut nonces = [0; LARGE];
        source.fill(&mut nonces).unwrap();
        black_box(nonces);
    }
    /// Long enough that starting the threads does not count.
    fn in_two_threads(name: &'static str, block: fn(&Source)) -> Contender {
        const BLOCKS: usize = 800;
        let source = source(Kind::Counter);
        let run = move || {
            thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| (0..BLOCKS).for_each(|_| block(&source)));
                }
            });
        };
        Contender { name, ids: (2 * BLOCKS * LARGE) as u32, run: Box::new(run), times: Vec::new() }
    }
    let in_one_thread = |name, kind, block: fn(&Source)| {
        let source = source(kind);
        contender(name, move || block(&source))
    };
    vec![
        in_one_thread("counted one by one", Kind::Counter, one_by_one),
        in_one_thread("counted one by one, sortable", Kind::Sortable, one_by_one),
        in_one_thread("counted in blocks of 256", Kind::Counter, in_a_block),
        in_two_threads("counted one by one by each of two threads", one_by_one),
        in_two_threads("counted in blocks of 256 by each of two threads", in_a_block),
    ]
}

fn pipelines() -> Vec<Contender> {
    let one = |name, kind, format, masked| {
        let pipeline = Pipeline::new(kind, format, masked);
        contender(name, move || (0..LARGE).for_each(|_| pipeline.one()))
    };
    let blocks = |name, format, masked, size: usize| {
        let mut pipeline = Pipeline::new(Kind::Counter, format, masked);
        contender(name, move || (0..LARGE / size).for_each(|_| pipeline.block(size)))
    };
    vec![
        one("a whole ID: usr_ and masked base58", Kind::Counter, Format::Base58, true),
        one("a whole ID: usr_ and base58", Kind::Counter, Format::Base58, false),
        one("a whole ID: usr_ and masked url64", Kind::Counter, Format::Url64, true),
        one("a whole ID: usr_ and masked base58, sortable", Kind::Sortable, Format::Base58, true),
        blocks("masked base58 in blocks of 8", Format::Base58, true, 8),
        blocks("masked base58 in blocks of 64", Format::Base58, true, 64),
        blocks("masked base58 in blocks of 256", Format::Base58, true, LARGE),
        blocks("base58 in blocks of 256", Format::Base58, false, LARGE),
        blocks("masked url64 in blocks of 64", Format::Url64, true, 64),
        blocks("masked url64 in blocks of 256", Format::Url64, true, LARGE),
    ]
}

/// What the binding does, without JavaScript.
struct Pipeline {
    id_type: IdType,
    source: Source,
    numbers: [u64; LARGE],
    bodies: [u8; 16 * LARGE],
}

impl Pipeline {
    fn new(kind: Kind, format: Format, masked: bool) -> Self {
        let id_type = IdType::new(Spec {
            prefix: "usr_".to_owned(),
            kind,
            format,
            db_format: Format::Signed,
            mask: masked.then(|| Arc::new(cipher().into())),
            encryption: None,
            accepts: Vec::new(),
            persist_prefix: false,
            layout: Layout::DEFAULT,
        })
        .unwrap();
        Self { id_type, source: source(kind), numbers: [0; LARGE], bodies: [0; 16 * LARGE] }
    }

    #[inline]
    fn one(&self) {
        let mut text = Text::new();
        let number = self.id_type.number(self.source.next().unwrap());
        black_box(self.id_type.write_app(number, &mut text));
    }

    fn block(&mut self, size: usize) {
        let numbers = &mut self.numbers[..size];
        self.source.fill(numbers).unwrap();
        self.id_type.number_block(numbers);
        self.id_type.write_app_block(numbers, &mut self.bodies);
        black_box(self);
    }
}

/// A sequence of its own that is never throttled: lease time is decades ahead of the fence's start, and one
/// millisecond has more sortable nonces than a processor can count.
fn source(kind: Kind) -> Source {
    let layout = Layout::new(0, 42, 2, 20, Layout::DEFAULT_EPOCH_MS).unwrap();
    // A counter needs no time, and valgrind cannot read the system's clock the way it is read here.
    let (order, clock): (_, Arc<dyn Clock>) = match kind {
        Kind::Sortable => (Order::Sortable, Arc::new(SystemClock)),
        _ => (Order::Counter, Arc::new(ManualClock::default())),
    };
    let factory = Arc::new(Factory::new(layout, Arc::clone(&clock)));
    factory.open(Opening {
        fence: Fence { machine: 1, start: 1, end: layout.end() },
        now: layout.end() / 2,
        arrived: clock.tick(),
        extend: None,
        doubt: Doubt::new(|| {}),
    });
    factory.source(Space::new(order, layout)).unwrap()
}

fn cipher() -> Speck64 {
    Speck64::new(b"0123456789abcdef")
}

/// A block of numbers that have no pattern.
fn numbers() -> [u64; LARGE] {
    let cipher = cipher();
    std::array::from_fn(|number| cipher.encrypt(number as u64))
}
