//! A way to write small histories: one line an event, times in milliseconds.

use doublehold_history::{
    Bounds, CallId, ClientId, ClockKind, Deadline, EventKind, Header, History, LockId, ObjectId, Reading,
    RunOutcome, TrueNs,
};

pub(crate) const STOCK: LockId = LockId(0);
pub(crate) const X: ObjectId = ObjectId(0);
pub(crate) const C1: ClientId = ClientId(0);
pub(crate) const C2: ClientId = ClientId(1);
pub(crate) const C3: ClientId = ClientId(2);

/// A history whose times are milliseconds. Each grant is a client with a number: `(C1, 1)`.
pub(crate) struct Story(pub(crate) History);

pub(crate) type Grant = (ClientId, u64);

impl Story {
    pub(crate) fn new() -> Self {
        let mut header = Header::new("story", 7, &["c1", "c2", "c3"], &["stock"]);
        header.nodes = vec!["A".to_owned()];
        header.keys_watched = true;
        header.objects = vec!["x".to_owned(), "y".to_owned()];
        Self(History::new(header))
    }

    /// Promises that any wait is at most so long.
    pub(crate) fn bound(ms: u64) -> Self {
        Self::promising(Bounds { obtain_within_ns: Some(ms * 1_000_000), ..Bounds::default() })
    }

    /// Promises that a wait for a lock that nobody claims is at most so long.
    pub(crate) fn free_bound(ms: u64) -> Self {
        Self::promising(Bounds { obtain_free_within_ns: Some(ms * 1_000_000), ..Bounds::default() })
    }

    fn promising(bounds: Bounds) -> Self {
        let mut header = Story::new().0.header().clone();
        header.bounds = bounds;
        Self(History::new(header))
    }

    pub(crate) fn at(mut self, ms: u64, what: EventKind) -> Self {
        self.0.push(TrueNs(ms * 1_000_000), what);
        self
    }

    pub(crate) fn waits(self, ms: u64, (client, id): Grant) -> Self {
        self.at(ms, EventKind::AcquireStarted { client, call: CallId(id), lock: STOCK })
    }

    pub(crate) fn gives_up(self, ms: u64, (client, id): Grant) -> Self {
        self.at(ms, EventKind::GaveUp { client, call: CallId(id) })
    }

    pub(crate) fn granted(self, ms: u64, grant: Grant) -> Self {
        self.granted_until(ms, grant, None)
    }

    pub(crate) fn granted_until(self, ms: u64, (client, id): Grant, deadline_ms: Option<i64>) -> Self {
        let deadline =
            deadline_ms.map(|ms| Deadline { clock: ClockKind::Monotonic, reading_ns: ms * 1_000_000 });
        let (grant, token) = (CallId(id), format!("{id:02x}"));
        self.at(
            ms,
            EventKind::Granted {
                client,
                grant,
                lock: STOCK,
                token,
                fencing: None,
                deadline,
                reading: Some(reading(ms)),
                within: None,
            },
        )
    }

    pub(crate) fn deadline_passes(self, ms: u64, (client, id): Grant) -> Self {
        self.at(ms, EventKind::DeadlinePassed { client, grant: CallId(id) })
    }

    pub(crate) fn extended(self, ms: u64, (client, id): Grant) -> Self {
        self.at(ms, EventKind::Extended { client, grant: CallId(id), deadline: None })
    }

    pub(crate) fn releases(self, ms: u64, (client, id): Grant) -> Self {
        self.at(ms, EventKind::ReleaseCalled { client, grant: CallId(id) })
    }

    pub(crate) fn clocks(self, ms: u64, client: ClientId) -> Self {
        self.at(ms, EventKind::Clocks { client, reading: reading(ms) })
    }

    pub(crate) fn reads(self, ms: u64, (client, id): Grant, object: ObjectId, version: u64) -> Self {
        self.at(ms, EventKind::ReadDone { client, grant: CallId(id), object, version, value: 0 })
    }

    pub(crate) fn writes(
        self,
        ms: u64,
        (client, id): Grant,
        object: ObjectId,
        version: u64,
        based_on: Option<u64>,
    ) -> Self {
        let grant = CallId(id);
        self.at(
            ms,
            EventKind::WriteApplied { client, grant, object, version, based_on, value: 0, fencing: None },
        )
    }

    pub(crate) fn ends(self, ms: u64, outcome: RunOutcome) -> History {
        self.at(ms, EventKind::RunEnded { outcome }).0
    }

    pub(crate) fn completes(self, ms: u64) -> History {
        self.ends(ms, RunOutcome::Completed)
    }
}

/// A clock that is 100 s ahead of true time, like c1's machine that booted earlier.
pub(crate) fn reading(ms: u64) -> Reading {
    let ns = (ms + 100_000) * 1_000_000;
    Reading { wall_ns: ns as i64, monotonic_ns: ns, boot_ns: ns }
}
