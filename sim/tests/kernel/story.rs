//! How the tests tell a story: a world with faults at given times, and a log of what its hosts say, with the true time
//! at which they said it.

use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Fault, Host, HostId, HostSpec, LinkSpec, Occurrence, Outcome, Pattern, PlannedFault,
    Probability, Run, Seed, SimStream, SimTime, Trigger, World, WorldObserver,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// The port everything listens on.
pub(crate) const PORT: u16 = 7;

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A link that takes so many milliseconds each way and loses nothing.
pub(crate) fn link(milliseconds: u64) -> LinkSpec {
    LinkSpec::lossless(DelayLaw::Fixed(ms(milliseconds)))
}

pub(crate) fn always() -> Probability {
    Probability::new(1, 1).expect("one is a probability")
}

/// What the hosts said, and when in true time.
#[derive(Clone)]
pub(crate) struct Log {
    observer: WorldObserver,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Log {
    pub(crate) fn say(&self, what: impl Display) {
        let at = self.observer.true_time().0;
        self.lines
            .lock()
            .expect("no test panics while it speaks")
            .push(format!("{} {what}", milliseconds(at)));
    }
}

fn milliseconds(nanoseconds: u64) -> String {
    let (whole, rest) = (nanoseconds / 1_000_000, nanoseconds % 1_000_000);
    if rest == 0 { format!("{whole}ms") } else { format!("{whole}ms+{rest}ns") }
}

/// A world and its log.
pub(crate) struct Story {
    pub(crate) world: World,
    log: Log,
}

impl Story {
    /// A world whose links take one millisecond.
    pub(crate) fn new() -> Story {
        Story::with_links(link(1))
    }

    pub(crate) fn with_links(links: LinkSpec) -> Story {
        Story::seeded(1, links)
    }

    pub(crate) fn seeded(seed: u64, links: LinkSpec) -> Story {
        let world = World::traced(Seed(seed), links);
        let log = Log { observer: world.observer(), lines: Arc::default() };
        Story { world, log }
    }

    /// Adds a host for whose main task the run does not wait.
    pub(crate) fn host<F>(&mut self, name: &str, main: impl Fn(Host, Log) -> F + 'static) -> HostId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let log = self.log.clone();
        self.world.add_host(HostSpec::new(name), move |host| main(host, log.clone()))
    }

    /// Adds a host for whose main task the run waits.
    pub(crate) fn essential<F>(&mut self, name: &str, main: impl Fn(Host, Log) -> F + 'static) -> HostId
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let log = self.log.clone();
        self.world.add_host(HostSpec::new(name).essential(), move |host| main(host, log.clone()))
    }

    /// Adds a server that says what it reads, each read a line, and how each connection ended.
    pub(crate) fn listener(&mut self, name: &str) -> HostId {
        self.host(name, |host, log| async move {
            let mut incoming = host.listen(PORT);
            loop {
                let stream = incoming.accept().await;
                let log = log.clone();
                host.spawn(async move { say_all(stream, &log).await });
            }
        })
    }

    /// The server sends back what it reads.
    pub(crate) fn echo(&mut self, name: &str) -> HostId {
        self.host(name, |host, _| async move {
            let mut incoming = host.listen(PORT);
            loop {
                let mut stream = incoming.accept().await;
                host.spawn(async move {
                    let mut bytes = [0; 64];
                    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
                        if stream.write_all(&bytes[..count]).await.is_err() {
                            return;
                        }
                    }
                });
            }
        })
    }

    /// A fault at a time, for good.
    pub(crate) fn at(&mut self, at: u64, fault: Fault) {
        self.plan(Trigger::At(SimTime::ZERO.after(ms(at))), vec![fault], None);
    }

    /// A fault from one time to another.
    pub(crate) fn during(&mut self, from: u64, until: u64, fault: Fault) {
        self.plan(Trigger::At(SimTime::ZERO.after(ms(from))), vec![fault], Some(ms(until - from)));
    }

    /// A fault at the n-th event of a kind, lasting a while.
    pub(crate) fn on(&mut self, pattern: Pattern, nth: u32, fault: Fault, lasting: Option<Duration>) {
        let trigger = Trigger::On {
            occurrences: vec![Occurrence { pattern, nth }],
            offset: Duration::ZERO,
            each: false,
        };
        self.plan(trigger, vec![fault], lasting);
    }

    pub(crate) fn plan(&mut self, trigger: Trigger, faults: Vec<Fault>, lasting: Option<Duration>) {
        self.world.plan(PlannedFault { trigger, faults, lasting });
    }

    /// Runs until the essential hosts are done.
    pub(crate) fn run(&mut self) -> Run {
        let run = self.world.run(Budget::default());
        assert_eq!(run.outcome, Outcome::Completed, "said so far: {:#?}", self.said());
        run
    }

    /// The log, for hosts that are not added by this story's own methods.
    pub(crate) fn log(&self) -> Log {
        self.log.clone()
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.log.lines.lock().expect("no test panics while it speaks").clone()
    }

    /// Runs to the end and compares what was said.
    pub(crate) fn tells(mut self, expected: &[&str]) {
        self.run();
        assert_eq!(self.said(), expected);
    }
}

/// A connection to a host that must accept it.
pub(crate) async fn connect(host: &Host, to: HostId) -> SimStream {
    host.connect(to, PORT).await.expect("the other host listens")
}

/// Sends all of a text, over a connection that must not be broken.
pub(crate) async fn send(stream: &mut SimStream, text: &str) {
    stream.write_all(text.as_bytes()).await.expect("the connection is not broken");
}

/// Says each thing that can be read, then how it ended.
pub(crate) async fn say_all(mut stream: SimStream, log: &Log) {
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes).await {
            Ok(0) => return log.say("end of stream"),
            Ok(count) => log.say(String::from_utf8_lossy(&bytes[..count])),
            Err(error) => return log.say(error.kind()),
        }
    }
}
