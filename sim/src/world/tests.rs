//! What a world leaves behind, how it grows, and what it refuses: seen from inside, because nothing of it shows
//! outside.

use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

/// Every kind of waker that the kernel can keep: of readers, writers, timers, accepts, signals and fsyncs.
async fn wait_for_everything(host: Host) {
    let mut incoming = host.listen(1);
    let mut stream = host.connect(host.id(), 1).await.expect("it listens to itself");
    let other = incoming.accept().await;
    for waits in 0..5 {
        let host = host.clone();
        host.clone().spawn(async move {
            match waits {
                0 => drop(host.listen(2).accept().await),
                1 => host.sleep(Duration::from_secs(1_000)).await,
                2 => drop(host.signal().await),
                3 => drop(host.connect(HostId(0), 9).await),
                _ => loop {
                    host.fsync("file").await;
                },
            }
        });
    }
    let _ = stream.read_u8().await;
    drop(other);
}

#[test]
fn a_dropped_world_frees_its_kernel_wherever_it_was_stopped() {
    for stop in 0..40 {
        let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(3))));
        let host = world.add_host(HostSpec::new("host").essential(), wait_for_everything);
        for (at, fault) in [
            (10, crate::Fault::Pause { host }),
            (20, crate::Fault::Resume { host }),
            (25, crate::Fault::Crash { host }),
            (30, crate::Fault::Start { host }),
        ] {
            let trigger = crate::Trigger::At(SimTime::ZERO.after(Duration::from_millis(at)));
            world.plan(PlannedFault { trigger, faults: vec![fault], lasting: None });
        }
        let kernel = Rc::downgrade(&world.kernel);
        world.run(Budget { time: Duration::from_millis(stop), ..Budget::default() });
        drop(world);
        assert_eq!(kernel.strong_count(), 0, "stopped at {stop} ms");
    }
}

async fn accept_all(host: Host) {
    let (mut incoming, mut streams) = (host.listen(1), Vec::new());
    loop {
        streams.push(incoming.accept().await);
    }
}

/// Time would depend on the machine; what grows is counted.
#[test]
fn a_world_has_links_for_hosts_that_meet_and_no_others() {
    let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::from_millis(3))));
    let nodes =
        [world.add_host(HostSpec::new("a"), accept_all), world.add_host(HostSpec::new("b"), accept_all)];
    for client in 0..500 {
        world.add_host(HostSpec::new(format!("c{client}")).essential(), move |host| async move {
            for node in nodes {
                let stream = host.connect(node, 1).await.expect("it listens");
                host.clone().spawn(async move {
                    std::future::pending::<()>().await;
                    drop(stream);
                });
            }
        });
    }
    assert_eq!(world.kernel.state.borrow().net.links.len(), 0, "before anybody meets");
    world.run(Budget::default());
    let net = &world.kernel.state.borrow().net;
    assert_eq!(net.links.len(), 500 * 2 * 2, "each client and each node, both ways");
    assert_eq!(net.peers(HostId(400)), nodes);
    let connections = |from, to| net.known_link(from, to).map(|link| link.connections.len());
    assert_eq!(connections(HostId(400), nodes[0]), Some(1), "what a crash of this client looks at");
    assert_eq!(connections(HostId(400), HostId(401)), None);
}

/// Opens connections, talks and closes, over links that lose and with faults that hold, kill and reset.
fn lossy_world_with_faults() -> World {
    let loss = crate::Probability::new(1, 4).expect("below one");
    let links = LinkSpec { delay: DelayLaw::Fixed(Duration::from_millis(3)), loss };
    let mut world = World::new(Seed(1), links);
    let server = world.add_host(HostSpec::new("server"), |host| async move {
        let mut incoming = host.listen(1);
        loop {
            let _ = incoming.accept().await.read_u8().await;
        }
    });
    let client = world.add_host(HostSpec::new("client").essential(), move |host| async move {
        for _ in 0..100 {
            let deadline = host.clocks().monotonic.after(Duration::from_secs(2));
            let exchange = async {
                if let Ok(mut stream) = host.connect(server, 1).await {
                    let _ = stream.write_u8(1).await;
                    host.sleep(Duration::from_millis(10)).await;
                }
            };
            let _ = host.race(exchange, deadline).await;
        }
        host.sleep(Duration::from_secs(3_000)).await; // every timer of the network is over by then
    });
    for (at, fault) in [
        (200, crate::Fault::Cut { from: client, to: server }),
        (3_000, crate::Fault::Suspend { host: server }),
        (6_000, crate::Fault::Crash { host: server }),
        (9_000, crate::Fault::LosePower { host: server, torn_tail: false }),
    ] {
        let trigger = crate::Trigger::At(SimTime::ZERO.after(Duration::from_millis(at)));
        let lasting = Some(Duration::from_secs(1));
        world.plan(PlannedFault { trigger, faults: vec![fault], lasting });
    }
    world
}

#[test]
fn connections_that_are_over_leave_nothing_behind() {
    let mut world = lossy_world_with_faults();
    assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
    let net = &world.kernel.state.borrow().net;
    assert!(net.opened > 50, "{} were opened", net.opened);
    assert_eq!((net.connections.len(), net.segments.len()), (0, 0));
    assert!(net.links.iter().all(|(_, link)| link.connections.is_empty()));
}

#[test]
#[should_panic(expected = "two hosts are named `twin`")]
fn two_hosts_with_one_name_are_refused() {
    let mut world = World::new(Seed(1), LinkSpec::lossless(DelayLaw::Fixed(Duration::ZERO)));
    world.add_host(HostSpec::new("twin"), wait_for_everything);
    world.add_host(HostSpec::new("other"), wait_for_everything);
    world.add_host(HostSpec::new("twin"), wait_for_everything);
}

#[test]
#[should_panic(expected = "there is no link from host 1 to host 2")]
fn a_link_to_a_host_that_is_not_there_is_refused() {
    let spec = LinkSpec::lossless(DelayLaw::Fixed(Duration::ZERO));
    let mut world = World::new(Seed(1), spec.clone());
    world.add_host(HostSpec::new("one"), wait_for_everything);
    world.set_link(HostId(1), HostId(2), spec);
}
