//! A memory barrier that one thread orders for all: Linux's `membarrier`, and what `bias.rs` asks the system besides.
//! Elsewhere there is none, and [`prepare`] says so.

pub(crate) use system::{everywhere, is_only_thread, prepare};

#[cfg(all(target_os = "linux", not(miri)))]
#[expect(unsafe_code, reason = "calls of the system and of the C library")]
mod system {
    use std::sync::atomic::{Ordering, fence};
    use std::thread;
    use std::time::Duration;

    use crate::bias;

    fn membarrier(command: libc::c_int) -> bool {
        let (flags, core): (libc::c_uint, libc::c_int) = (0, 0);
        // SAFETY: the call takes numbers and changes no memory.
        let outcome = unsafe { libc::syscall(libc::SYS_membarrier, command, flags, core) };
        outcome == 0
    }

    /// What the C library calls in a forked process, on its only thread.
    extern "C" fn forked() {
        bias::begin_in_fork();
    }

    /// Asks the system to allow [`everywhere`], and to tell of forks; false if it does not.
    pub(crate) fn prepare() -> bool {
        // SAFETY: the function lives as long as this code and takes nothing. It reads a variable of its thread and writes an
        // atomic one, which the rules for what runs in a fork allow.
        let tells = unsafe { libc::pthread_atfork(None, None, Some(forked)) } == 0;
        tells
            && membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
            && membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    /// When this returns, every running thread of the process has passed a full barrier since the call, the caller included.
    /// Threads that do not run have passed one when they stopped.
    pub(crate) fn everywhere() {
        if membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
            return;
        }
        // Allowed once and forbidden since, by a sandbox that was closed meanwhile. A store is seen by everybody as soon as
        // the processor's buffer of some dozens of them has drained, for which this is a hundred thousand times enough.
        fence(Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        fence(Ordering::SeqCst);
    }

    /// True if the C library knows that the process has one thread; "no" may mean that it does not tell. glibc has a variable
    /// for its own locks and for the reference counts of C++.
    #[cfg(all(target_env = "gnu", not(target_feature = "crt-static")))]
    pub(crate) fn is_only_thread() -> bool {
        let name = c"__libc_single_threaded";
        // SAFETY: the name is a C string, and looking it up in what is loaded already runs nobody's code.
        let flag = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        // SAFETY: of this name there is a `char` that lives as long as the process, and glibc writes it only while there is
        // one thread, so never at the same time as another thread looks.
        !flag.is_null() && unsafe { *flag.cast::<u8>() } != 0
    }

    #[cfg(not(all(target_env = "gnu", not(target_feature = "crt-static"))))]
    pub(crate) fn is_only_thread() -> bool {
        false
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    /// Nobody is allowed here.
    pub(crate) fn prepare() -> bool {
        false
    }

    /// Never called, because [`prepare`] refuses.
    pub(crate) fn everywhere() {}

    /// So that the first thread asks at once, and knows.
    pub(crate) fn is_only_thread() -> bool {
        true
    }
}
