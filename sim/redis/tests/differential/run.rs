//! Runs one script on both servers, step by step, until their answers differ.

use std::io;
use std::time::Duration;

use super::client::{Answer, Clients};
use super::known::Known;
use super::real::RealRedis;
use super::script::{Bytes, Step};

/// What both servers are told between two scripts. Each answers OK.
const FRESH_START: [&str; 5] = [
    "REPLICAOF NO ONE",
    "CONFIG SET min-replicas-to-write 0 replica-serve-stale-data yes",
    "CONFIG SET notify-keyspace-events K loglevel notice zset-max-ziplist-entries 128 activerehashing yes",
    "FLUSHALL",
    "SCRIPT FLUSH",
];

/// The real server and ours.
pub(crate) struct Pair {
    server: RealRedis,
    real: Clients,
    ours: Clients,
    known: Known,
}

/// What came of a script.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All answers are equal.
    Equal,
    /// Some are not.
    Different(Difference),
    /// The real server crashed, and has been started again.
    RealCrashed,
}

/// The first step whose answers differ.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// Which step of the script.
    pub(crate) at: usize,
    /// What the real server answered to each step up to that one.
    pub(crate) real: Vec<Answer>,
    /// What ours answered to that step.
    pub(crate) ours: Answer,
}

impl Pair {
    /// A real server, and ours on its loopback port.
    pub(crate) fn new(server: RealRedis, ours: u16, known: Known) -> Pair {
        Pair { real: Clients::of(server.port), ours: Clients::of(ours), known, server }
    }

    /// Runs the script on servers that remember nothing of the scripts before.
    pub(crate) fn run(&mut self, script: &[Step]) -> Outcome {
        match self.converse(script) {
            Ok(None) => Outcome::Equal,
            Ok(Some(difference)) => Outcome::Different(difference),
            Err(_) if self.server_has_crashed() => Outcome::RealCrashed,
            Err(error) => panic!("a server takes no connections any more: {error}"),
        }
    }

    /// A crash shows within moments; a new server then takes the old one's place.
    fn server_has_crashed(&mut self) -> bool {
        for _ in 0..100 {
            if self.server.has_ended() {
                self.server = RealRedis::start().expect("it has started before");
                self.real = Clients::of(self.server.port);
                return true;
            }
            rest(Duration::from_millis(20));
        }
        false
    }

    fn converse(&mut self, script: &[Step]) -> io::Result<Option<Difference>> {
        for (name, server) in [("the real server", &mut self.real), ("ours", &mut self.ours)] {
            server.close();
            start_afresh(server).map_err(|error| io::Error::other(format!("{name}: {error}")))?;
        }
        let mut queues: [Queue; 3] = Default::default();
        let mut answers = Vec::new();
        for (at, step) in script.iter().enumerate() {
            self.real.send(step)?;
            self.ours.send(step)?;
            let (real, ours) = (self.real.receive(step)?, self.ours.receive(step)?);
            let queue = &mut queues[step.connection()];
            let agree = match step {
                Step::Send { args, .. } => self.known.agree(args, &queue.commands, &real, &ours),
                Step::Round { .. } | Step::Raw { .. } => real == ours,
            };
            answers.push(real);
            if !agree {
                // A difference to a server that is gone is none.
                self.real.ask("PING")?;
                return Ok(Some(Difference { at, real: answers, ours }));
            }
            match step {
                Step::Send { args, pause, .. } => {
                    queue.follow(args, &answers[at]);
                    rest(*pause);
                }
                Step::Round { args, .. } => queue.follow(args, &answers[at]),
                Step::Raw { .. } => {}
            }
        }
        Ok(None)
    }
}

/// What a connection has queued since MULTI.
#[derive(Default)]
struct Queue {
    commands: Vec<Vec<Bytes>>,
}

impl Queue {
    fn follow(&mut self, args: &[Bytes], answer: &Answer) {
        let name = args.first().map(|name| name.to_ascii_uppercase()).unwrap_or_default();
        if answer.bytes == b"+QUEUED\r\n" {
            self.commands.push(args.to_vec());
        } else if matches!(name.as_slice(), b"EXEC" | b"DISCARD" | b"RESET") {
            self.commands.clear();
        }
    }
}

/// Forgets data, scripts, role and settings.
///
/// # Errors
/// When the server does not do so.
pub(crate) fn start_afresh(server: &mut Clients) -> io::Result<()> {
    for command in FRESH_START {
        let step = Step::send(0, command.split(' ').map(|word| word.as_bytes().to_vec()).collect());
        server.send(&step)?;
        let answer = server.receive(&step)?;
        if answer.bytes != b"+OK\r\n" {
            let text = String::from_utf8_lossy(&answer.bytes).into_owned();
            return Err(io::Error::other(format!(
                "`{command}` was answered with `{text}` ({:?})",
                answer.end
            )));
        }
    }
    server.close();
    Ok(())
}

/// Lets real time pass.
#[expect(clippy::disallowed_methods, reason = "both servers see real time, and keys must expire in it")]
pub(crate) fn rest(pause: Duration) {
    if !pause.is_zero() {
        std::thread::sleep(pause);
    }
}
