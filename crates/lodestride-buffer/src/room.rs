//! Room on a disk, set aside before a large file is written.
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "`fallocate` is a call of the system")
)]

use std::fs::File;
use std::io;

/// Sets aside room for the first `bytes` bytes of a file, whose length does not change. A file system that cannot do that
/// is no error: then nothing is set aside.
///
/// What is written afterwards goes into blocks that are there, in one piece. Without it, ext4 looks for them all at once
/// when the finished file replaces an old one, which takes longer than writing.
///
/// # Errors
/// [`StorageFull`](io::ErrorKind::StorageFull) and its like, before anything was written.
///
/// ```
/// let path = std::env::temp_dir().join("lodestride-room-example");
/// let file = std::fs::File::create(&path)?;
/// lodestride_buffer::set_room_aside(&file, 1 << 20)?;
/// assert_eq!(file.metadata()?.len(), 0);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn set_room_aside(file: &File, bytes: u64) -> io::Result<()> {
    let length = i64::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    if length == 0 {
        return Ok(());
    }
    set_aside(file, length)
}

#[cfg(target_os = "linux")]
fn set_aside(file: &File, length: i64) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    // SAFETY: the descriptor is open as long as the borrowed file; the call takes numbers only.
    let outcome =
        unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, 0, length) };
    if outcome == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Err(error)
        }
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn set_aside(_: &File, _: i64) -> io::Result<()> {
    Ok(())
}
