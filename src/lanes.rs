//! Loops over many numbers, compiled for the widest vectors of the processor they run on.
//!
//! Beside `binding` this is the only place with unsafe code: a function compiled for AVX2 must not be called where a
//! processor lacks it. What that buys an ID in a block of 256, in ns on an EPYC 7763 (`cargo bench --bench pipeline`):
//! Speck 2.7, against 6.4 with the SSE2 that every x86-64 has and 19 one by one; base58 2.9, against 5.0 from tables.
//! Elsewhere the loops are compiled as they stand: aarch64 always has NEON.

#![allow(unsafe_code, reason = "the numbers above")]

/// A loop that compiles to vectors. `run` must be `#[inline(always)]`: only what is inlined is compiled anew for wider
/// vectors.
pub(crate) trait Loop {
    /// Does the work. `WIDE` says that vectors have 256 bits; the result must not depend on it.
    fn run<const WIDE: bool>(self);
}

/// Runs `work` with the widest vectors that there are.
#[inline]
pub(crate) fn run(work: impl Loop) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which is all that the function asks for.
        return unsafe { run_with_avx2(work) };
    }
    work.run::<false>();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_with_avx2(work: impl Loop) {
    work.run::<true>();
}
