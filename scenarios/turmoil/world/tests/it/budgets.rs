//! The ends of runs, which both worlds must tell alike: a host ends it, everything is done, or a budget is spent.

use std::time::Duration;

use doublehold_sim::{Budget, Fault, Host, HostSpec, Outcome, World, WorldLike};
use doublehold_sim_turmoil::TurmoilWorld;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::kit::{MS, Story, Write, alike, told};
use super::machines::Sleeps;
use super::{CLIENT, PORT, SERVER, at};

/// A host that ends the run.
struct Halts;

impl Story for Halts {
    fn tell<W: WorldLike>(world: &mut W, _: &Write) {
        world.add_host(HostSpec::new("client").essential(), |host: Host| async move {
            host.sleep(MS(30)).await;
            host.halt();
            host.sleep(MS(30)).await;
        });
    }
}

#[test]
fn a_host_can_end_the_run() {
    let told = alike::<Halts>(&[], &[]);
    assert!(told.run.starts_with("Halted at 30000000,"), "{}", told.run);
}

/// A client that sends a byte and has ended before it arrives.
struct Leaves;

impl Story for Leaves {
    fn tell<W: WorldLike>(world: &mut W, write: &Write) {
        let write = write.clone();
        world.add_host(HostSpec::new("server"), move |host: Host| {
            let write = write.clone();
            async move {
                let mut stream = host.listen(PORT).accept().await;
                write(&format!("{:?}", stream.read_u8().await.map(char::from)));
            }
        });
        world.add_host(HostSpec::new("client").essential(), |host: Host| async move {
            let mut stream = host.connect(SERVER, PORT).await.expect("the server listens");
            stream.write_u8(b'x').await.expect("it is open");
            let sleeper = host.clone();
            host.spawn(async move {
                sleeper.sleep(MS(10_000)).await;
                drop(stream);
            });
        });
    }
}

#[test]
fn a_run_lasts_until_what_was_sent_has_arrived_or_never_will() {
    let told = alike::<Leaves>(&[], &["30 Ok('x')"]);
    assert!(told.run.starts_with("Completed at 30000000,"), "{}", told.run);
    let cut = (at(25), Fault::Cut { from: CLIENT, to: SERVER }, None);
    let told = alike::<Leaves>(&[cut], &[]);
    assert!(told.run.starts_with("Completed at 30000000,"), "{}", told.run);
}

/// An essential client that has nothing to do, and a machine that goes round in a circle in no time.
struct Spins;

impl Story for Spins {
    fn tell<W: WorldLike>(world: &mut W, _: &Write) {
        world.add_host(HostSpec::new("client").essential(), |_: Host| async {});
        world.add_host(HostSpec::new("other"), |host: Host| async move {
            loop {
                host.wall().await;
            }
        });
    }
}

/// A client whose every millisecond is recorded, and nothing else.
struct Waits;

impl Story for Waits {
    fn tell<W: WorldLike>(world: &mut W, _: &Write) {
        world.add_host(HostSpec::new("client").essential(), |host: Host| async move {
            loop {
                host.sleep(MS(1)).await;
            }
        });
    }
}

/// A client that keeps its process and its disk busy for as long as it may.
struct Fills;

impl Story for Fills {
    fn tell<W: WorldLike>(world: &mut W, _: &Write) {
        world.add_host(HostSpec::new("client").essential(), |host: Host| async move {
            loop {
                host.append("log", &[0; 100]);
                host.sleep(MS(1)).await;
            }
        });
    }
}

#[test]
fn a_run_ends_where_its_budget_does() {
    fn outcome<S: Story>(memory: u64, time: Duration, events: u64) -> [String; 2] {
        let budget = Budget { memory, time, events };
        [told::<World, S>(&[], None, budget), told::<TurmoilWorld, S>(&[], None, budget)]
            .map(|told| told.run.split(" at ").next().expect("a word").to_owned())
    }
    let memory = ["MemoryBudget", "MemoryBudget"];
    assert_eq!(outcome::<Fills>(1 << 20, MS(1_000_000), 10_000_000), memory);
    assert_eq!(outcome::<Waits>(1 << 20, MS(1_000_000), 10_000_000), memory);
    assert_eq!(outcome::<Fills>(1 << 30, MS(200), 10_000_000), ["TimeBudget", "TimeBudget"]);
    assert_eq!(outcome::<Fills>(1 << 30, MS(1_000_000), 500), ["EventBudget", "EventBudget"]);
    // Whoever goes round in a circle is stopped, and a run that was cut short is not complete.
    let spun = Budget { events: 300, ..Budget::default() };
    let runs = [told::<World, Spins>(&[], None, spun), told::<TurmoilWorld, Spins>(&[], None, spun)];
    assert!(runs.iter().all(|told| told.run.starts_with("EventBudget at 0,")), "{runs:?}");
    // What comes at the last instant still counts.
    let budget = Budget { time: MS(560), ..Budget::default() };
    let runs = [told::<World, Sleeps>(&[], None, budget), told::<TurmoilWorld, Sleeps>(&[], None, budget)];
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].run.starts_with(&format!("{:?} at 560000000,", Outcome::Completed)), "{}", runs[0].run);
}
