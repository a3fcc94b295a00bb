//! Opening what a result is written to, without ever waiting for somebody who reads it.
//!
//! A pipe is opened by name only when it has a reader, and until then the system lets the program sleep: with the list
//! of leftovers held, not even a signal would end it. So a pipe without a reader is asked for again for a moment, since
//! a shell starts both ends at once, and then refused. Once a pipe is open, writing to it waits for its reader as
//! usual: any signal ends that. Not covered: systems that are no Unix open files as they always do.

#![expect(
    clippy::disallowed_methods,
    reason = "who reads a pipe is somebody in real time, and no run waits here"
)]

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long the reader of a pipe may take to open it.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(10);
/// The way out where only the system knows the cause.
pub const ELSEWHERE: &str = "name a file in a directory that exists and that you may write to";

/// A place that cannot be opened: the cause, and the way out.
pub struct Refusal {
    /// The cause.
    pub source: io::Error,
    /// The way out.
    pub hint: &'static str,
}

/// Opens a file for reading. Whatever is none is refused: opening a pipe waits for somebody who writes to it.
///
/// # Errors
///
/// If the system refuses it, or it is no file.
pub fn open_for_reading(path: &Path) -> io::Result<File> {
    let metadata = fs::metadata(path)?;
    if metadata.is_file() {
        return File::open(path);
    }
    Err(io::Error::other(if metadata.is_dir() { "it is a directory" } else { "it is no file" }))
}

/// Opens for writing, and leaves what is there alone.
///
/// # Errors
///
/// If the system refuses it.
pub fn open_for_writing(path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    open_at_once(&mut options, path)
}

/// Calls `open` until it succeeds or fails for another reason than a pipe that nobody reads yet.
///
/// # Errors
///
/// If nobody reads the pipe after a moment, or the system refuses it for another reason.
pub fn open_patiently<T>(path: &str, mut open: impl FnMut() -> io::Result<T>) -> Result<T, Refusal> {
    let asked = Instant::now();
    loop {
        match open() {
            Ok(opened) => return Ok(opened),
            Err(error) if lacks_a_reader(path, &error) && asked.elapsed() < PATIENCE => thread::sleep(PAUSE),
            Err(source) => return Err(refusal(path, source)),
        }
    }
}

fn refusal(path: &str, source: io::Error) -> Refusal {
    let (cause, hint) = if lacks_a_reader(path, &source) {
        ("it is a pipe that nobody reads", "start its reader first, or name a file")
    } else if fs::metadata(path).is_ok_and(|it| it.is_dir()) {
        ("it is a directory", "name a file in it")
    } else if is_socket(path) {
        ("it is a socket", "name a file")
    } else {
        return Refusal { source, hint: ELSEWHERE };
    };
    Refusal { source: io::Error::new(source.kind(), cause), hint }
}

#[cfg(unix)]
fn open_at_once(options: &mut OpenOptions, path: &str) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

    let flag = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = options.custom_flags(flag).open(path)?;
    // From here on a reader may be slow: a write that does not wait would fail in the middle of a result.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

#[cfg(not(unix))]
fn open_at_once(options: &mut OpenOptions, path: &str) -> io::Result<File> {
    options.open(path)
}

#[cfg(unix)]
fn lacks_a_reader(path: &str, error: &io::Error) -> bool {
    use std::os::unix::fs::FileTypeExt;

    error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error())
        && fs::metadata(path).is_ok_and(|it| it.file_type().is_fifo())
}

#[cfg(not(unix))]
fn lacks_a_reader(_path: &str, _error: &io::Error) -> bool {
    false
}

#[cfg(unix)]
fn is_socket(path: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;

    fs::metadata(path).is_ok_and(|it| it.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_socket(_path: &str) -> bool {
    false
}
