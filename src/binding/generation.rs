//! A word of memory that both sides see: it changes whenever IDs that JavaScript keeps ready are worthless. Reading it
//! costs JavaScript an `Atomics.load`, a tenth of a call.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use napi::bindgen_prelude::Uint32Array;
use napi::sys;

use crate::nonce::Watch;

/// A word that Rust owns; JavaScript sees it through an external buffer.
#[derive(Debug, Default)]
pub(super) struct Owned(AtomicU32);

impl Watch for Owned {
    fn changed(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl Owned {
    /// A `Uint32Array` over the word, or `None` where the engine allows no external buffers (Electron).
    pub(super) fn show(self: &Arc<Self>, env: sys::napi_env) -> Option<sys::napi_value> {
        let share = Arc::into_raw(Arc::clone(self)).cast_mut().cast::<c_void>();
        let (mut buffer, mut array) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the word is 4 bytes at the start of `share`, which lives until the finalizer drops it.
        let status = unsafe {
            let size = size_of::<AtomicU32>();
            sys::napi_create_external_arraybuffer(env, share, size, Some(drop_share), share, &raw mut buffer)
        };
        if status != sys::Status::napi_ok {
            // SAFETY: the engine refused, so no finalizer will ever run for this share.
            unsafe { drop(Arc::from_raw(share.cast::<Self>())) };
            return None;
        }
        // SAFETY: `buffer` was just made, with room for one element.
        let status = unsafe {
            sys::napi_create_typedarray(env, sys::TypedarrayType::uint32_array, 1, buffer, 0, &raw mut array)
        };
        (status == sys::Status::napi_ok).then_some(array)
    }
}

unsafe extern "C" fn drop_share(_env: sys::napi_env, _data: *mut c_void, share: *mut c_void) {
    // SAFETY: `share` came from `Arc::into_raw` in `show`, for this finalizer alone.
    unsafe { drop(Arc::from_raw(share.cast::<Owned>())) };
}

/// A word in a `Uint32Array` that JavaScript made and that a reference keeps, for engines without external buffers.
#[derive(Debug)]
pub(super) struct Pinned(Mutex<Option<Word>>);

#[derive(Debug, Clone, Copy)]
struct Word(NonNull<AtomicU32>);

// SAFETY: the word is only used atomically, and under the lock that `release_all` takes before its memory may go.
unsafe impl Send for Word {}

thread_local! {
    /// The words of this thread, whose memory goes with its environment.
    static PINNED: RefCell<Vec<Weak<Pinned>>> = const { RefCell::new(Vec::new()) };
}

impl Pinned {
    /// The first element of `array`, which stays until the environment ends; `None` if it is empty.
    pub(super) fn new(array: Uint32Array) -> Option<Arc<Self>> {
        let word = NonNull::new(array.as_ptr().cast_mut().cast::<AtomicU32>()).filter(|_| !array.is_empty())?;
        // Its reference is never given up: the memory cannot move or go before `release_all` has run.
        std::mem::forget(array);
        let pinned = Arc::new(Self(Mutex::new(Some(Word(word)))));
        PINNED.with_borrow_mut(|all| {
            all.retain(|pinned| pinned.strong_count() > 0);
            all.push(Arc::downgrade(&pinned));
        });
        Some(pinned)
    }

    /// Ends the use of all words of this thread, whose environment is about to end.
    pub(super) fn release_all() {
        for pinned in PINNED.take().iter().filter_map(Weak::upgrade) {
            *pinned.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

impl Watch for Pinned {
    fn changed(&self) {
        if let Some(Word(word)) = *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: the array is kept, and JavaScript never transfers it, until `release_all`, which takes this lock.
            unsafe { word.as_ref() }.fetch_add(1, Ordering::Release);
        }
    }
}
