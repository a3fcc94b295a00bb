//! Being asked to stop: SIGTERM and SIGINT, and Ctrl-C where there are no signals.
//!
//! From the moment they are listened for, neither ends the program by itself.

use std::future::pending;
use std::io;

/// What asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// SIGTERM.
    Terminate,
    /// SIGINT, or Ctrl-C.
    Interrupt,
}

impl Stop {
    /// The status with which shells report a program that such a signal ended.
    #[must_use]
    pub(crate) fn exit_status(self) -> i32 {
        match self {
            Stop::Terminate => 128 + 15,
            Stop::Interrupt => 128 + 2,
        }
    }
}

/// Requests to stop, one after the other.
#[derive(Debug)]
pub(crate) struct Signals(Option<Sources>);

#[cfg(unix)]
#[derive(Debug)]
struct Sources {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Sources;

impl Signals {
    /// Listens from now on. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the system does not allow it.
    pub(crate) fn listen() -> io::Result<Signals> {
        Ok(Signals(Some(Sources::open()?)))
    }

    /// Nobody asks: what becomes of the process is somebody else's.
    pub(crate) fn never() -> Signals {
        Signals(None)
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Stop {
        match &mut self.0 {
            Some(sources) => sources.next().await,
            None => pending().await,
        }
    }
}

#[cfg(unix)]
impl Sources {
    fn open() -> io::Result<Sources> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Sources {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    async fn next(&mut self) -> Stop {
        match super::either::first(self.terminate.recv(), self.interrupt.recv()).await {
            super::either::Either::Left(_) => Stop::Terminate,
            super::either::Either::Right(_) => Stop::Interrupt,
        }
    }
}

#[cfg(not(unix))]
impl Sources {
    fn open() -> io::Result<Sources> {
        Ok(Sources)
    }

    async fn next(&mut self) -> Stop {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Stop::Interrupt,
            Err(_) => pending().await,
        }
    }
}
