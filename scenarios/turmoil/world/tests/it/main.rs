//! Stories that both worlds must tell alike, as the lines that a client and a server write down: the same code in the
//! kernel's world and in turmoil's.

mod budgets;
mod defects;
mod forgotten;
mod kit;
mod machines;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Fault, Host, HostId, HostSpec, Keep, LinkSpec, ObserverLike, Occurrence, Outcome,
    Pattern, PlannedFault, Seed, SimTime, Trigger, World, WorldLike,
};
use doublehold_sim_turmoil::TurmoilWorld;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const PORT: u16 = 7;
const SERVER: HostId = HostId(1);
const CLIENT: HostId = HostId(2);

type Lines = Arc<Mutex<Vec<String>>>;

/// A server that sends every byte back, and a client that asks it `times` times, 100 ms apart, over a connection of its
/// own each time; one way takes 10 ms. Returns what they wrote down, with the true time in milliseconds.
fn echoed<W: WorldLike>(times: u32, faults: &[(Trigger, Fault, Option<u64>)]) -> Vec<String> {
    echoed_over::<W>(Seed(1), DelayLaw::Fixed(Duration::from_millis(10)), times, faults)
}

fn echoed_over<W: WorldLike>(
    seed: Seed,
    delay: DelayLaw,
    times: u32,
    faults: &[(Trigger, Fault, Option<u64>)],
) -> Vec<String> {
    let mut world = W::build(seed, LinkSpec::lossless(delay), Keep::Hash);
    let (lines, observer) = (Lines::default(), world.observer());
    let write = move |lines: &Lines, line: &str| {
        let at = observer.true_time().0 / 1_000_000;
        lines.lock().expect("nobody panics").push(format!("{at} {line}"));
    };
    let (of_server, of_client) = (lines.clone(), lines.clone());
    let writes = write.clone();
    world.add_host(HostSpec::new("server"), move |host: Host| {
        let (lines, write) = (of_server.clone(), writes.clone());
        async move {
            write(&lines, &format!("server: process {}", host.restarts()));
            let mut incoming = host.listen(PORT);
            loop {
                let mut stream = incoming.accept().await;
                host.spawn(async move {
                    let mut byte = [0];
                    while stream.read_exact(&mut byte).await.is_ok() && stream.write_all(&byte).await.is_ok()
                    {
                    }
                });
            }
        }
    });
    world.add_host(HostSpec::new("client").essential(), move |host: Host| {
        let (lines, write) = (of_client.clone(), write.clone());
        async move {
            for _ in 0..times {
                let asked = async {
                    let mut stream = host.connect(SERVER, PORT).await?;
                    stream.write_all(b"x").await?;
                    host.mark("asked", None).await;
                    stream.read_u8().await
                };
                let deadline = host.clocks().monotonic.after(Duration::from_secs(30));
                match host.race(asked, deadline).await {
                    Ok(Ok(byte)) => write(&lines, &format!("client: {}", char::from(byte))),
                    Ok(Err(error)) => write(&lines, &format!("client: {:?}", error.kind())),
                    Err(_) => write(&lines, "client: no answer"),
                }
                host.sleep(Duration::from_millis(100)).await;
            }
        }
    });
    for (trigger, fault, lasting_ms) in faults {
        let (trigger, lasting) = (trigger.clone(), lasting_ms.map(Duration::from_millis));
        world.plan(PlannedFault { trigger, faults: vec![fault.clone()], lasting });
    }
    assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
    drop(world);
    lines.lock().expect("nobody panics").clone()
}

fn at(ms: u64) -> Trigger {
    Trigger::At(SimTime(ms * 1_000_000))
}

fn asked(nth: u32) -> Trigger {
    let pattern = Pattern::Mark { host: Some(CLIENT), label: "asked".to_owned(), about: None };
    Trigger::On { occurrences: vec![Occurrence { pattern, nth }], offset: Duration::ZERO, each: false }
}

#[track_caller]
fn both(times: u32, faults: &[(Trigger, Fault, Option<u64>)], expected: &[&str]) {
    assert_eq!(echoed::<World>(times, faults), expected, "in the kernel's world");
    assert_eq!(echoed::<TurmoilWorld>(times, faults), expected, "in turmoil's world");
}

#[test]
fn a_handshake_and_an_echo_take_two_round_trips() {
    both(2, &[], &["0 server: process 0", "40 client: x", "180 client: x"]);
}

/// turmoil's TCP sends acknowledgements as well, which draw from a stream of their own and hold nothing up.
#[test]
fn a_seed_means_the_same_delays_in_both_worlds() {
    let delay = DelayLaw::Uniform { min: Duration::from_millis(1), max: Duration::from_millis(500) };
    for seed in (1..=20).map(Seed) {
        let [kernel, turmoil] = [echoed_over::<World>, echoed_over::<TurmoilWorld>]
            .map(|echoed| echoed(seed, delay.clone(), 10, &[]));
        assert_eq!(kernel, turmoil, "seed {seed}");
    }
}

#[test]
fn a_paused_client_finds_the_answer_that_came_meanwhile() {
    let pause = (asked(1), Fault::Pause { host: CLIENT }, Some(5_000));
    both(2, &[pause], &["0 server: process 0", "5020 client: x", "5160 client: x"]);
}

#[test]
fn a_client_that_is_paused_beyond_its_deadline_takes_an_answer_that_is_there() {
    let pause = (asked(1), Fault::Pause { host: CLIENT }, Some(60_000));
    both(1, &[pause], &["0 server: process 0", "60020 client: x"]);
}

#[test]
fn a_paused_server_answers_late_and_its_machine_takes_connections() {
    let pause = (at(5), Fault::Pause { host: SERVER }, Some(1_000));
    both(1, &[pause], &["0 server: process 0", "1015 client: x"]);
}

#[test]
fn what_is_cut_one_way_is_held_until_the_cut_is_healed() {
    let cut = (asked(1), Fault::Cut { from: SERVER, to: CLIENT }, None);
    let gone = ["0 server: process 0", "30000 client: no answer"];
    both(1, &[cut], &gone);
    let other = (asked(1), Fault::Cut { from: CLIENT, to: SERVER }, None);
    both(1, &[other], &gone);
}

/// The one rule in which the two networks differ: the kernel's TCP waits for its timer.
#[test]
fn what_a_short_cut_stopped_under_way_is_sent_again() {
    let cut = [(at(25), Fault::Cut { from: CLIENT, to: SERVER }, Some(2))];
    assert_eq!(echoed::<World>(1, &cut), ["0 server: process 0", "240 client: x"]);
    assert_eq!(echoed::<TurmoilWorld>(1, &cut), ["0 server: process 0", "50 client: x"]);
}

#[test]
fn a_crashed_server_ends_its_connections_refuses_and_comes_back_on_its_port() {
    let crash = (asked(1), Fault::Crash { host: SERVER }, Some(200));
    // The handshake's third step is under way when the listener dies: a connection that the kernel takes to be open
    // before it, and that Linux and turmoil do not.
    let expected = |end| {
        let (refused, again) = ("150 client: ConnectionRefused", "220 server: process 1");
        ["0 server: process 0", end, refused, again, "290 client: x"]
    };
    assert_eq!(echoed::<World>(3, std::slice::from_ref(&crash)), expected("30 client: UnexpectedEof"));
    assert_eq!(echoed::<TurmoilWorld>(3, &[crash]), expected("30 client: ConnectionReset"));
}

#[test]
fn a_server_without_power_says_nothing_and_resets_what_it_does_not_know() {
    let power = (asked(1), Fault::LosePower { host: SERVER, torn_tail: false }, Some(40_000));
    both(1, &[power], &["0 server: process 0", "30000 client: no answer", "40020 server: process 1"]);
    let short = (asked(1), Fault::LosePower { host: SERVER, torn_tail: false }, Some(1_000));
    let reset = |lines: Vec<String>| lines[2].ends_with("client: ConnectionReset");
    assert!(reset(echoed::<World>(1, std::slice::from_ref(&short))));
    assert!(reset(echoed::<TurmoilWorld>(1, &[short])));
}

#[test]
fn connections_that_somebody_resets_end_at_both_ends() {
    let reset = (asked(1), Fault::ResetConnections { from: CLIENT, to: SERVER }, None);
    both(2, &[reset], &["0 server: process 0", "20 client: ConnectionReset", "160 client: x"]);
    // A connection that is being opened is none yet.
    let early = (at(15), Fault::ResetConnections { from: CLIENT, to: SERVER }, None);
    both(1, &[early], &["0 server: process 0", "40 client: x"]);
}
