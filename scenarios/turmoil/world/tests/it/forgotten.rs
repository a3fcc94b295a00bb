//! Stories of what a machine still sends, and what it has forgotten: both worlds must tell them alike.
//!
//! A TCP repeats data and the end of a stream until they are acknowledged. It repeats no reset, nothing of a connection
//! that was reset at its end, and nothing at all while it is suspended or after its power was lost.

use std::sync::Arc;
use std::time::Duration;

use doublehold_sim::{
    Budget, DelayLaw, Fault, Host, HostSpec, Keep, LinkSpec, ObserverLike, Outcome, PlannedFault, Seed,
    Trigger, World, WorldLike,
};
use doublehold_sim_turmoil::TurmoilWorld;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{CLIENT, Lines, PORT, SERVER, at};

/// A step of the client's first process, which opens its connection in the first 20 ms.
#[derive(Clone, Copy)]
enum Step {
    /// Sends a byte, which the server sends back.
    Say(u8),
    /// Lets so many milliseconds pass.
    Wait(u64),
    /// Reads a byte.
    Read,
    /// Closes the connection.
    Close,
}

/// What the server read, and how its connection ended, with the true time in milliseconds. One way takes 10 ms.
fn told<W: WorldLike>(steps: &[Step], faults: &[(Trigger, Fault, Option<u64>)]) -> Vec<String> {
    let links = LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(10)));
    let mut world = W::build(Seed(1), links, Keep::Hash);
    let (lines, observer) = (Lines::default(), world.observer());
    let written = lines.clone();
    let write: Arc<dyn Fn(String) + Send + Sync> = Arc::new(move |line| {
        let at = observer.true_time().0 / 1_000_000;
        written.lock().expect("nobody panics").push(format!("{at} {line}"));
    });
    world.add_host(HostSpec::new("server"), move |host: Host| {
        let write = write.clone();
        async move {
            let mut incoming = host.listen(PORT);
            loop {
                let (mut stream, write) = (incoming.accept().await, write.clone());
                host.spawn(async move {
                    loop {
                        match stream.read_u8().await {
                            Ok(byte) => write(char::from(byte).to_string()),
                            Err(error) => return write(format!("{:?}", error.kind())),
                        }
                        // The answer to a connection that is no more goes nowhere.
                        let _ = stream.write_all(b"y").await;
                    }
                });
            }
        }
    });
    let steps = steps.to_vec();
    world.add_host(HostSpec::new("client").essential(), move |host: Host| {
        let steps = steps.clone();
        async move {
            if host.restarts() > 0 {
                return;
            }
            let mut stream = Some(host.connect(SERVER, PORT).await.expect("the server listens"));
            for step in steps {
                match (step, &mut stream) {
                    (Step::Wait(ms), _) => host.sleep(Duration::from_millis(ms)).await,
                    (Step::Say(byte), Some(stream)) => {
                        stream.write_u8(byte).await.expect("it is open");
                    }
                    (Step::Read, Some(stream)) => {
                        stream.read_u8().await.expect("the server answers");
                    }
                    (Step::Close, stream) => *stream = None,
                    (_, None) => unreachable!("it was closed"),
                }
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

#[track_caller]
fn both(steps: &[Step], faults: &[(Trigger, Fault, Option<u64>)], expected: &[&str]) {
    assert_eq!(told::<World>(steps, faults), expected, "in the kernel's world");
    assert_eq!(told::<TurmoilWorld>(steps, faults), expected, "in turmoil's world");
}

fn cut_to_server() -> Fault {
    Fault::Cut { from: CLIENT, to: SERVER }
}

use Step::{Close, Read, Say, Wait};

#[test]
fn a_reset_that_meets_a_cut_is_not_repeated() {
    // The answer is unread, so closing is a reset.
    let steps = [Say(b'a'), Wait(80), Close, Wait(5_000)];
    both(&steps, &[], &["30 a", "110 ConnectionReset"]);
    both(&steps, &[(at(60), cut_to_server(), Some(900))], &["30 a"]);
}

#[test]
fn what_is_held_goes_with_the_reset_of_its_sender() {
    let steps = [Say(b'a'), Wait(60), Say(b'b'), Wait(20), Close, Wait(5_000)];
    both(&steps, &[], &["30 a", "90 b", "110 ConnectionReset"]);
    both(&steps, &[(at(60), cut_to_server(), Some(900))], &["30 a"]);
}

#[test]
fn what_is_held_outlives_a_connection_that_was_closed_with_nothing_unread() {
    let steps = [Say(b'a'), Read, Wait(40), Say(b'b'), Close, Wait(5_000)];
    // Sent at 80 ms, it is due again after 200 and 600 ms.
    let healed = (at(70), cut_to_server(), Some(610));
    both(&steps, &[healed], &["30 a", "690 b", "690 UnexpectedEof"]);
}

#[test]
fn what_is_held_goes_with_a_reset_that_its_sender_gets() {
    let steps = [Say(b'a'), Read, Wait(40), Say(b'b'), Wait(5_000)];
    // Sent at 80 ms, it is due again after 200 and 600 ms.
    let suspension = (at(70), Fault::Suspend { host: SERVER }, Some(610));
    let reset = (at(200), Fault::ResetConnections { from: CLIENT, to: SERVER }, None);
    both(&steps, std::slice::from_ref(&suspension), &["30 a", "690 b"]);
    both(&steps, &[suspension, reset], &["30 a"]);
}

#[test]
fn a_suspended_machine_sends_nothing_when_its_process_dies() {
    let steps = [Say(b'a'), Read, Wait(5_000)];
    let suspension = (at(100), Fault::Suspend { host: CLIENT }, Some(800));
    let crash = (at(300), Fault::Crash { host: CLIENT }, Some(5_000));
    // The end of the stream is due 600 ms after the death, when the machine wakes.
    both(&steps, &[suspension, crash], &["30 a", "910 UnexpectedEof"]);
}

#[test]
fn a_suspended_machine_repeats_nothing_before_it_wakes() {
    let steps = [Say(b'a'), Read, Wait(40), Say(b'b'), Wait(5_000)];
    let cut = (at(82), cut_to_server(), Some(2));
    let suspension = (at(83), Fault::Suspend { host: CLIENT }, Some(597));
    // Sent at 80 ms, it is due again after 200 and 600 ms, also where its peer has slept as well.
    both(&steps, &[cut.clone(), suspension.clone()], &["30 a", "690 b"]);
    let peers = (at(100), Fault::Suspend { host: SERVER }, Some(100));
    both(&steps, &[cut, suspension, peers], &["30 a", "690 b"]);
}

#[test]
fn a_machine_that_lost_its_power_repeats_nothing() {
    let steps = [Say(b'a'), Read, Wait(40), Say(b'b'), Wait(5_000)];
    let power = (at(82), Fault::LosePower { host: CLIENT, torn_tail: false }, Some(400));
    both(&steps, std::slice::from_ref(&power), &["30 a", "90 b"]);
    both(&steps, &[power, (at(83), cut_to_server(), Some(500))], &["30 a"]);
}
