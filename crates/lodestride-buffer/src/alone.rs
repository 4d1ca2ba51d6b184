//! Whether the process has one thread only: then no locked instruction is needed, because nobody else can come between.
//! What is counted and exchanged is in `access.rs` and `buffer.rs`.
//!
//! A locked exchange takes some twenty cycles on x86-64, and an addition of two small arrays had four. The C library says
//! when they can be left out: glibc keeps `__libc_single_threaded` for its own locks and for the reference counts of C++.
//! It is cleared before a second thread is made, and making a thread orders everything before it. Where there is no such
//! variable, the answer is always "no".

pub(crate) use answer::{find, is_alone};

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(any(target_feature = "crt-static", loom, miri))
))]
#[expect(unsafe_code, reason = "a variable of the C library")]
mod answer {
    use std::ptr::NonNull;
    use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

    /// What is always right: that there may be other threads.
    static NOT_ALONE: AtomicU8 = AtomicU8::new(0);
    /// Invariant: points to a byte that lives for ever and that only the C library writes, if anybody.
    static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const NOT_ALONE).cast_mut());

    /// True if no other thread exists. Only the caller could make one, so this holds until it does; what it did before by
    /// plain loads and stores is seen by every thread that is made later.
    #[inline(always)]
    pub(crate) fn is_alone() -> bool {
        let flag = FLAG.load(Ordering::Relaxed);
        // SAFETY: by the invariant the byte is there. glibc writes it only while there is one thread, so never at the same
        // time as another thread looks.
        let flag = unsafe { &*flag };
        flag.load(Ordering::Relaxed) != 0
    }

    /// Looks for the C library's answer; until then it is "no".
    pub(crate) fn find() {
        let name = c"__libc_single_threaded";
        // SAFETY: the name is a C string, and looking it up in what is loaded already runs nobody's code.
        let flag = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if let Some(flag) = NonNull::new(flag) {
            FLAG.store(flag.as_ptr().cast(), Ordering::Relaxed);
        }
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    not(any(target_feature = "crt-static", loom, miri))
)))]
mod answer {
    /// Nobody can tell here.
    #[inline(always)]
    pub(crate) fn is_alone() -> bool {
        false
    }

    pub(crate) fn find() {}
}
