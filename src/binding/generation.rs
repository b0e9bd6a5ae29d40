//! Words of memory that both sides see: all of them change whenever IDs that JavaScript keeps ready are worthless. There
//! is one for each place of a block, so that JavaScript may read another one for each ID: no engine can have read that
//! one before. With `Atomics.load` any one would do, but on V8 that is a call, and takes as long as a number.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use napi::bindgen_prelude::Uint32Array;
use napi::sys;

use crate::nonce::Watch;

/// How many words: as many as a block of `js/ready-ids.js` has places.
const WORDS: usize = 256;

/// Words that Rust owns; JavaScript sees them through an external buffer.
#[derive(Debug)]
pub(super) struct Owned([AtomicU32; WORDS]);

impl Default for Owned {
    fn default() -> Self {
        Self([const { AtomicU32::new(0) }; WORDS])
    }
}

impl Watch for Owned {
    fn changed(&self) {
        change(&self.0);
    }
}

fn change(words: &[AtomicU32]) {
    for word in words {
        word.fetch_add(1, Ordering::Release);
    }
}

impl Owned {
    /// A `Uint32Array` over the words, or `None` where the engine allows no external buffers (Electron).
    pub(super) fn show(self: &Arc<Self>, env: sys::napi_env) -> Option<sys::napi_value> {
        let share = Arc::into_raw(Arc::clone(self)).cast_mut().cast::<c_void>();
        let (mut buffer, mut array) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the words are all that is in `share`, which lives until the finalizer drops it.
        let status = unsafe {
            let size = size_of::<Self>();
            sys::napi_create_external_arraybuffer(env, share, size, Some(drop_share), share, &raw mut buffer)
        };
        if status != sys::Status::napi_ok {
            // SAFETY: the engine refused, so no finalizer will ever run for this share.
            unsafe { drop(Arc::from_raw(share.cast::<Self>())) };
            return None;
        }
        // SAFETY: `buffer` was just made, with room for as many elements.
        let status = unsafe {
            sys::napi_create_typedarray(env, sys::TypedarrayType::uint32_array, WORDS, buffer, 0, &raw mut array)
        };
        (status == sys::Status::napi_ok).then_some(array)
    }
}

unsafe extern "C" fn drop_share(_env: sys::napi_env, _data: *mut c_void, share: *mut c_void) {
    // SAFETY: `share` came from `Arc::into_raw` in `show`, for this finalizer alone.
    unsafe { drop(Arc::from_raw(share.cast::<Owned>())) };
}

/// Words in a `Uint32Array` that JavaScript made and that a reference keeps, for engines without external buffers.
#[derive(Debug)]
pub(super) struct Pinned(Mutex<Option<Words>>);

#[derive(Debug, Clone, Copy)]
struct Words(NonNull<[AtomicU32]>);

// SAFETY: the words are only used atomically, and under the lock that `release_all` takes before their memory may go.
unsafe impl Send for Words {}

thread_local! {
    /// The arrays of this thread, whose memory goes with its environment.
    static PINNED: RefCell<Vec<Weak<Pinned>>> = const { RefCell::new(Vec::new()) };
}

impl Pinned {
    /// The elements of `array`, which stays until the environment ends; `None` if it is empty.
    pub(super) fn new(array: Uint32Array) -> Option<Arc<Self>> {
        let first = NonNull::new(array.as_ptr().cast_mut().cast::<AtomicU32>()).filter(|_| !array.is_empty())?;
        let words = Words(NonNull::slice_from_raw_parts(first, array.len()));
        // Its reference is never given up: the memory cannot move or go before `release_all` has run.
        std::mem::forget(array);
        let pinned = Arc::new(Self(Mutex::new(Some(words))));
        PINNED.with_borrow_mut(|all| {
            all.retain(|pinned| pinned.strong_count() > 0);
            all.push(Arc::downgrade(&pinned));
        });
        Some(pinned)
    }

    /// Ends the use of all arrays of this thread, whose environment is about to end.
    pub(super) fn release_all() {
        for pinned in PINNED.take().iter().filter_map(Weak::upgrade) {
            *pinned.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

impl Watch for Pinned {
    fn changed(&self) {
        if let Some(Words(words)) = *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: the array is kept, and JavaScript never transfers it, until `release_all`, which takes this lock.
            change(unsafe { words.as_ref() });
        }
    }
}
