//! Stories of machines that both worlds must tell alike: disks, deaths, listeners, timers and randomness.

use std::sync::{Arc, Mutex};

use doublehold_sim::{
    Budget, DelayLaw, Fault, Host, HostId, HostSpec, Keep, LinkSpec, Outcome, RatePpb, Seed, World, WorldLike,
};
use doublehold_sim_turmoil::TurmoilWorld;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::kit::{MS, Planned, Story, Write, alike, told};
use super::{CLIENT, PORT, SERVER, at};

fn pause(host: HostId) -> Fault {
    Fault::Pause { host }
}

/// Two machines write two files each and have them made durable, which takes 10 ms; the second process of the first
/// says what was left.
struct Disks;

impl Story for Disks {
    fn tell<W: WorldLike>(world: &mut W, write: &Write) {
        let spec =
            |name: &str| HostSpec { fsync_time: DelayLaw::Fixed(MS(10)), ..HostSpec::new(name).essential() };
        for name in ["one", "other"] {
            let write = write.clone();
            world.add_host(spec(name), move |host: Host| {
                let write = write.clone();
                async move {
                    if host.restarts() > 0 {
                        let left = ["log", "list"]
                            .map(|file| String::from_utf8(host.read_file(file)).expect("a text"));
                        return write(&format!("{}: log {:?}, list {:?}", host.name(), left[0], left[1]));
                    }
                    host.append("log", b"abc");
                    host.append("list", b"xyz");
                    let files = host.clone();
                    host.spawn(async move {
                        files.sleep(MS(1)).await;
                        // Giving up recalls nothing.
                        let deadline = files.clocks().monotonic.after(MS(5));
                        assert!(files.race(files.fsync("list"), deadline).await.is_err());
                    });
                    let begun = host.clone();
                    host.spawn(async move { begun.fsync("log").await });
                    host.sleep(MS(5)).await;
                    host.truncate("log", 1);
                    host.replace("third", b"");
                    host.append("log", b"de");
                    host.sleep(MS(20)).await;
                    write(&format!("{}: written", host.name()));
                    host.sleep(MS(1000)).await;
                }
            });
        }
    }
}

#[test]
fn an_fsync_covers_what_a_file_held_and_no_other_file_or_machine() {
    let power = |host, at_ms| (at(at_ms), Fault::LosePower { host, torn_tail: false }, Some(5));
    // What was appended after the cut was never made durable.
    alike::<Disks>(
        &[power(SERVER, 30), power(CLIENT, 40)],
        &[
            "25 one: written",
            "25 other: written",
            "35 one: log \"a\", list \"xyz\"",
            "45 other: log \"a\", list \"xyz\"",
        ],
    );
    // A machine that loses its power while its disk is busy takes nothing from another's.
    alike::<Disks>(
        &[power(SERVER, 7), power(CLIENT, 40)],
        &["12 one: log \"\", list \"\"", "25 other: written", "45 other: log \"a\", list \"xyz\""],
    );
}

/// A client that asks a server for a while, one byte at a time, over connections of its own; the server listens again
/// after a process of its own has gone, and not on another port.
struct Asks;

impl Story for Asks {
    fn tell<W: WorldLike>(world: &mut W, write: &Write) {
        world.add_host(HostSpec::new("server"), move |host: Host| async move {
            let mut incoming = host.listen(PORT);
            loop {
                let mut stream = incoming.accept().await;
                host.spawn(async move {
                    while let Ok(byte) = stream.read_u8().await {
                        if stream.write_u8(byte).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        let write = write.clone();
        world.add_host(HostSpec::new("client").essential(), move |host: Host| {
            let write = write.clone();
            async move {
                let closed = host.connect(SERVER, PORT + 1).await.map(drop);
                write(&format!("{closed:?}"));
                for _ in 0..3 {
                    let asked = async {
                        let mut stream = host.connect(SERVER, PORT).await?;
                        stream.write_u8(b'x').await?;
                        stream.read_u8().await
                    };
                    let told = asked.await.map(char::from).map_err(|error: std::io::Error| error.kind());
                    write(&format!("{told:?}"));
                    host.sleep(MS(100)).await;
                }
            }
        });
    }
}

#[test]
fn connections_are_told_alike() {
    let refused = "20 Err(Refused)";
    let told = alike::<Asks>(&[], &[refused, "60 Ok('x')", "200 Ok('x')", "340 Ok('x')"]);
    assert!(told.run.contains(" 6 messages"), "{}", told.run);
    // While nobody listens, the machine refuses.
    let crash = (at(70), Fault::Crash { host: SERVER }, Some(105));
    alike::<Asks>(&[crash], &[refused, "60 Ok('x')", "180 Err(ConnectionRefused)", "320 Ok('x')"]);
    let late = (at(165), Fault::DelayNext { from: CLIENT, to: SERVER, by_ns: 300_000_000 }, None);
    alike::<Asks>(&[late], &[refused, "60 Ok('x')", "500 Ok('x')", "640 Ok('x')"]);
}

#[test]
fn a_reset_from_outside_is_of_connections_that_are_open() {
    let reset = |ms| (at(ms), Fault::ResetConnections { from: CLIENT, to: SERVER }, None);
    let refused = "20 Err(Refused)";
    // The first connection is over by then.
    alike::<Asks>(&[reset(130)], &[refused, "60 Ok('x')", "200 Ok('x')", "340 Ok('x')"]);
    // The second's question is under way, and never arrives. The kernel's trace tells of it all the same.
    let faults = [reset(185), reset(186)];
    let mut kernels = told::<World, Asks>(&faults, None, Budget::default());
    kernels.events.retain(|event| !event.starts_with("190000000 Delivered"));
    assert_eq!(kernels.lines, [refused, "60 Ok('x')", "185 Err(ConnectionReset)", "325 Ok('x')"]);
    assert_eq!(told::<TurmoilWorld, Asks>(&faults, None, Budget::default()), kernels);
}

/// Three tasks of a client that sleep for different times, and a clock that all of them read.
pub(crate) struct Sleeps;

impl Story for Sleeps {
    fn tell<W: WorldLike>(world: &mut W, write: &Write) {
        world.add_host(HostSpec::new("server"), |_: Host| async {});
        let write = write.clone();
        world.add_host(HostSpec::new("client").essential(), move |host: Host| {
            let write = write.clone();
            async move {
                for ms in [300, 100, 200] {
                    let (sleeper, write) = (host.clone(), write.clone());
                    host.spawn(async move {
                        sleeper.sleep(MS(ms)).await;
                        write(&format!("after {ms}"));
                    });
                }
                let mut drawn = [0; 2];
                host.random(&mut drawn);
                host.sleep(MS(60)).await;
                host.random(&mut drawn);
                write(&format!("draws {drawn:?}"));
                host.sleep(MS(500)).await;
                write(&format!("process {}", host.restarts()));
            }
        });
    }
}

/// The draws of the client after its streams went on as those of another seed.
fn drawn_after<W: WorldLike>(seed: u64) -> String {
    let lines = told::<W, Sleeps>(&[], Some(Seed(seed)), Budget::default()).lines;
    lines.into_iter().find(|line| line.contains("draws")).expect("it draws")
}

#[test]
fn randomness_goes_on_as_that_of_another_seed_does() {
    assert_eq!(drawn_after::<World>(2), drawn_after::<TurmoilWorld>(2));
    assert_eq!(drawn_after::<World>(3), drawn_after::<TurmoilWorld>(3));
    assert_ne!(drawn_after::<TurmoilWorld>(2), drawn_after::<TurmoilWorld>(3));
}

/// The lines without what was drawn.
fn sleeps(faults: Planned<'_>) -> [Vec<String>; 2] {
    let all = [
        told::<World, Sleeps>(faults, None, Budget::default()),
        told::<TurmoilWorld, Sleeps>(faults, None, Budget::default()),
    ];
    assert_eq!(all[0], all[1]);
    all.map(|told| told.lines.into_iter().filter(|line| !line.contains("draws")).collect())
}

#[test]
fn overdue_timers_fire_in_the_order_in_which_they_came_due() {
    let [lines, _] = sleeps(&[(at(50), pause(CLIENT), Some(400))]);
    assert_eq!(lines, ["450 after 100", "450 after 200", "450 after 300", "950 process 0"]);
    // A clock that changes meanwhile changes nothing about what was overdue, and what was not comes sooner.
    let faster = (at(150), Fault::ChangeRate { host: CLIENT, by: RatePpb(1_000_000_000) }, None);
    let [lines, _] = sleeps(&[(at(50), pause(CLIENT), Some(400)), faster]);
    assert_eq!(lines[..3], ["450 after 100", "450 after 200", "450 after 300"]);
}

#[test]
fn a_death_ends_a_pause_for_good() {
    let pauses = [(at(10), pause(CLIENT), Some(500)), (at(400), pause(CLIENT), Some(1000))];
    let crash = (at(200), Fault::Crash { host: CLIENT }, Some(50));
    let [lines, _] = sleeps(&[pauses[0].clone(), crash, pauses[1].clone()]);
    // The second process sleeps from 250 ms on; the end of the first pause is not the end of the second.
    assert_eq!(lines, ["350 after 100", "1400 after 200", "1400 after 300", "1400 process 1"]);
}

#[test]
fn who_is_down_for_good_is_not_waited_for() {
    let crashes = [
        (at(10), Fault::Crash { host: CLIENT }, Some(10_000)),
        (at(20), Fault::Crash { host: CLIENT }, None),
    ];
    let [lines, _] = sleeps(&crashes);
    assert_eq!(lines, [] as [String; 0]);
    let told = told::<TurmoilWorld, Sleeps>(&crashes, None, Budget::default());
    assert!(told.run.starts_with("Completed at 20000000,"), "{}", told.run);
}

/// A listener that is closed after its first connection.
struct Closes;

impl Story for Closes {
    fn tell<W: WorldLike>(world: &mut W, write: &Write) {
        world.add_host(HostSpec::new("server"), |host: Host| async move {
            let mut incoming = host.listen(PORT);
            let _stream = incoming.accept().await;
            drop(incoming);
            host.sleep(MS(10_000)).await;
        });
        let write = write.clone();
        world.add_host(HostSpec::new("client").essential(), move |host: Host| {
            let write = write.clone();
            async move {
                let mut kept = Vec::new();
                for _ in 0..2 {
                    let opened = host.connect(SERVER, PORT).await;
                    write(&format!("{:?}", opened.as_ref().map(drop)));
                    host.sleep(MS(50)).await;
                    kept.extend(opened);
                }
            }
        });
    }
}

/// A stream and a listener that outlive their world.
#[test]
fn what_outlives_its_world_belongs_to_no_machine() {
    type Kept = Arc<Mutex<Vec<Box<dyn std::any::Any + Send>>>>;
    let kept = Kept::default();
    let links = LinkSpec::lossless(DelayLaw::Fixed(MS(10)));
    let mut world = TurmoilWorld::build(Seed(1), links, Keep::Hash);
    let (server, client) = (kept.clone(), kept.clone());
    world.add_host(HostSpec::new("server"), move |host| {
        let kept = server.clone();
        async move {
            let mut incoming = host.listen(PORT);
            let stream = incoming.accept().await;
            kept.lock().expect("nobody panics").extend([Box::new(incoming) as _, Box::new(stream) as _]);
        }
    });
    world.add_host(HostSpec::new("client").essential(), move |host| {
        let kept = client.clone();
        async move {
            let stream = host.connect(SERVER, PORT).await.expect("the server listens");
            kept.lock().expect("nobody panics").push(Box::new(stream));
            host.sleep(MS(50)).await;
        }
    });
    assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
    drop(world);
    assert_eq!(std::mem::take(&mut *kept.lock().expect("nobody panics")).len(), 3);
}

#[test]
fn nobody_is_taken_by_a_listener_that_was_closed() {
    alike::<Closes>(&[], &["20 Ok(())", "90 Err(Refused)"]);
}
