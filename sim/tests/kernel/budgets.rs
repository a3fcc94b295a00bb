//! How a run ends: completed, stalled, out of events, out of time. None of them is a hang.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use doublehold_sim::{Budget, Fault, Host, HostId, HostSpec, Outcome, Run, Seed, SimTime, Trigger, World};
use tokio::io::AsyncReadExt;

use crate::story::{PORT, Story, always, connect, link, ms, send};

const SMALL: Budget = Budget { events: 10_000, time: Duration::from_secs(1), memory: 1 << 30 };

/// One essential host that does this, within a small budget.
fn run<F>(main: impl Fn(Host) -> F + 'static) -> Run
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut world = World::new(Seed(1), link(1));
    world.add_host(HostSpec::new("host").essential(), main);
    world.run(SMALL)
}

#[test]
fn a_world_whose_essential_tasks_are_done_is_completed_whatever_else_waits() {
    let run = run(|host| async move {
        host.spawn(pending());
        host.sleep(ms(5)).await;
    });
    assert_eq!((run.outcome, run.ended.0), (Outcome::Completed, 5_000_000));
}

#[test]
fn a_world_in_which_nothing_can_happen_any_more_is_stalled() {
    let run = run(|host| async move {
        host.sleep(ms(5)).await;
        pending().await
    });
    assert_eq!((run.outcome, run.ended.0), (Outcome::Stalled, 5_000_000));
}

#[test]
fn a_host_that_stays_stopped_stalls_the_world() {
    for fault in [|host| Fault::Pause { host }, |host| Fault::Suspend { host }] {
        let mut story = Story::new();
        let host = story.essential("host", |host, _| async move { host.sleep(ms(10)).await });
        story.at(5, fault(host));
        assert_eq!(story.world.run(SMALL).outcome, Outcome::Stalled);
    }
}

#[test]
fn a_task_that_spins_runs_out_of_events() {
    let spins = |main: fn(Host) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| run(main).outcome;
    let yielding = spins(|_| {
        Box::pin(poll_fn(|cx| {
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    });
    // The others never wait: each await is ready at once.
    let reading_clocks = spins(|host| {
        Box::pin(async move {
            loop {
                host.monotonic().await;
            }
        })
    });
    let sleeping_zero = spins(|host| {
        Box::pin(async move {
            loop {
                host.sleep(Duration::ZERO).await;
            }
        })
    });
    let reading_at_the_end_of_a_stream = spins(|host| {
        Box::pin(async move {
            let mut incoming = host.listen(PORT);
            let mut stream = host.connect(host.id(), PORT).await.expect("it listens to itself");
            drop(incoming.accept().await);
            loop {
                let _ = stream.read(&mut [0; 8]).await;
            }
        })
    });
    let all = [yielding, reading_clocks, sleeping_zero, reading_at_the_end_of_a_stream];
    assert_eq!(all, [Outcome::EventBudget; 4]);
}

#[test]
fn a_spinning_task_beside_a_finished_essential_one_is_no_pass() {
    let run = run(|host| async move {
        let spinner = host.clone();
        host.spawn(async move {
            loop {
                spinner.wall().await;
            }
        });
    });
    assert_eq!(run.outcome, Outcome::EventBudget);
}

#[test]
fn two_hosts_that_talk_for_ever_run_out_of_time() {
    let run = run(|host| async move {
        loop {
            host.sleep(ms(1)).await;
        }
    });
    assert_eq!((run.outcome, run.ended.0), (Outcome::TimeBudget, 1_000_000_000));
}

/// How a run ends in which one host does something over and over, and after how many events.
fn spent<F>(main: impl Fn(Host) -> F + 'static, memory: u64, traced: bool) -> (Outcome, u64)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut world = if traced { World::traced(Seed(1), link(1)) } else { World::new(Seed(1), link(1)) };
    world.add_host(HostSpec::new("host").essential(), main);
    let run = world.run(Budget { events: 100_000, time: Duration::from_secs(10_000), memory });
    (run.outcome, run.events)
}

#[test]
fn a_run_that_keeps_more_than_its_memory_budget_ends_with_that_name() {
    const MIB: u64 = 1 << 20;
    let writes = |host: Host| async move {
        loop {
            host.append("log", &[0; 1024]);
            host.sleep(ms(1)).await;
        }
    };
    let spawns = |host: Host| async move {
        loop {
            let sleeper = host.clone();
            host.spawn(async move { sleeper.sleep(Duration::from_secs(86_400)).await });
            host.sleep(ms(1)).await;
        }
    };
    let sends = |host: Host| async move {
        let mut incoming = host.listen(PORT);
        let mut kept = Vec::new();
        loop {
            let mut stream = host.connect(host.id(), PORT).await.expect("it listens to itself");
            tokio::io::AsyncWriteExt::write_all(&mut stream, &[0; 1024]).await.expect("not broken");
            kept.push((stream, incoming.accept().await));
        }
    };
    let forgets = |host: Host| async move {
        let mut incoming = host.listen(PORT);
        let mut kept = Vec::new();
        loop {
            drop(host.connect(host.id(), PORT).await.expect("it listens to itself"));
            kept.push(incoming.accept().await);
        }
    };
    for traced in [false, true] {
        assert_eq!(spent(writes, 4 * MIB, traced), (Outcome::MemoryBudget, 8192));
        assert_eq!(spent(spawns, 4 * MIB, traced), (Outcome::MemoryBudget, 15_360));
        // Each connection with the buffers of a driver; without them where its asker has let go of it.
        assert_eq!(spent(sends, 4 * MIB, traced), (Outcome::MemoryBudget, 2048));
        assert_eq!(spent(forgets, 4 * MIB, traced), (Outcome::MemoryBudget, 19_456));
        assert_eq!(spent(writes, 1 << 30, traced), (Outcome::EventBudget, 100_000));
    }
}

#[test]
fn what_the_code_that_watches_keeps_counts_as_memory() {
    let mut world = World::new(Seed(1), link(1));
    let observer = world.observer();
    world.add_host(HostSpec::new("host").essential(), move |host| {
        let observer = observer.clone();
        async move {
            for _ in 0..10_000 {
                observer.keeps(1000);
                host.sleep(ms(1)).await;
            }
        }
    });
    let budget = Budget { memory: 5 << 20, ..Budget::default() };
    assert_eq!(world.run(budget).outcome, Outcome::MemoryBudget);
}

#[test]
fn an_idle_hour_costs_next_to_nothing() {
    let mut world = World::new(Seed(1), link(1));
    world.add_host(HostSpec::new("host").essential(), |host| async move {
        host.sleep(Duration::from_secs(3600)).await;
    });
    let run = world.run(Budget::default());
    assert_eq!(run.outcome, Outcome::Completed);
    assert!(run.events < 10, "{} events", run.events);
}

#[test]
fn no_name_but_the_empty_one_belongs_to_the_world_itself() {
    let mut world = World::new(Seed(1), link(1));
    for name in ["world", "observer", "the world's observer", "host"] {
        world.add_host(HostSpec::new(name), |_| async {});
    }
    assert_eq!(world.run(Budget::default()).outcome, Outcome::Completed);
}

// Nothing outlives a world.

/// A world full of things that hold on to each other, with a token held by every task and boot function.
fn crowded(token: &Arc<()>, budget: Budget) {
    let mut story = Story::new();
    let echo = story.echo("echo");
    let silent = story.listener("silent");
    let held = token.clone();
    let client = story.essential("client", move |host, _| {
        let held = held.clone();
        async move {
            for peer in [echo, silent] {
                let (host, held) = (host.clone(), held.clone());
                host.clone().spawn(async move {
                    let mut stream = host.connect(peer, PORT).await.expect("it listens");
                    let _ = stream.read_u8().await; // nobody ever says anything
                    drop(held);
                });
            }
            host.append("file", b"x");
            let (sleeper, other) = (host.clone(), held.clone());
            host.spawn(async move {
                sleeper.sleep(Duration::from_secs(7200)).await;
                drop(other);
            });
            let syncer = host.clone();
            host.spawn(async move { syncer.fsync("file").await });
            host.signal().await;
            drop(held);
        }
    });
    story.during(20, 30, Fault::Pause { host: client });
    story.during(40, 60, Fault::Crash { host: echo });
    story.during(80, 90, Fault::LosePower { host: client, torn_tail: false });
    story.during(100, 200, Fault::Suspend { host: client });
    story.world.run(budget);
}

#[test]
fn a_dropped_world_leaves_nothing_behind_wherever_it_was_stopped() {
    let token = Arc::new(());
    for stop in 0..250 {
        crowded(&token, Budget { time: ms(stop), ..Budget::default() });
        assert_eq!(Arc::strong_count(&token), 1, "stopped at {stop} ms");
    }
    for events in 0..250 {
        crowded(&token, Budget { events, ..Budget::default() });
        assert_eq!(Arc::strong_count(&token), 1, "stopped after {events} events");
    }
}

#[test]
fn a_thousand_worlds_leave_nothing_behind() {
    let token = Arc::new(());
    (0..1000).for_each(|_| crowded(&token, Budget::default()));
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_world_that_never_ran_leaves_nothing_behind() {
    let token = Arc::new(());
    let mut world = World::new(Seed(1), link(1));
    let held = token.clone();
    world.add_host(HostSpec::new("host"), move |_| {
        let held = held.clone();
        async move { drop(held) }
    });
    drop(world);
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_run_lasts_until_what_a_dead_client_sent_has_arrived() {
    let mut story = Story::new();
    let arrived = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let noted = arrived.clone();
    let server = story.host("server", move |host, _| {
        let noted = noted.clone();
        async move {
            let mut stream = host.listen(PORT).accept().await;
            let mut word = [0; 5];
            noted.store(stream.read_exact(&mut word).await.is_ok(), std::sync::atomic::Ordering::Relaxed);
        }
    });
    let client = story.essential("client", move |host, _| async move {
        let mut stream = host.connect(server, PORT).await.expect("the server listens");
        host.sleep(ms(10)).await;
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"hello").await.expect("nothing is cut");
        pending().await
    });
    story.at(5, Fault::DelayNext { from: client, to: server, by_ns: 90_000_000_000 });
    story.at(50, Fault::Crash { host: client });
    let run = story.world.run(Budget::default());
    assert_eq!(run.outcome, Outcome::Completed);
    assert!(arrived.load(std::sync::atomic::Ordering::Relaxed), "the late packet was never delivered");
    assert!(run.ended.0 > 90_000_000_000);
}

/// A client that sends a word at 10 ms and dies at 50 ms, and when the run ended, in seconds.
fn ends_with_a_word_sent_into(fault: impl Fn(HostId, HostId) -> Fault, lasting: Option<Duration>) -> u64 {
    let mut story = Story::new();
    let server = story.listener("server");
    let client = story.essential("client", move |host, _| async move {
        let mut stream = connect(&host, server).await;
        host.sleep(ms(8)).await;
        send(&mut stream, "word").await;
        pending().await
    });
    story.plan(Trigger::At(SimTime::ZERO.after(ms(5))), vec![fault(client, server)], lasting);
    story.at(50, Fault::Crash { host: client });
    story.run().ended.0 / 1_000_000_000
}

#[test]
fn a_run_lasts_until_what_is_held_has_arrived_but_not_for_what_is_held_for_good() {
    let cut = |from, to| Fault::Cut { from, to };
    let lose = |from, to| Fault::Lose { from, to, probability: always() };
    let dark = |_, host| Fault::LosePower { host, torn_tail: false };
    let asleep = |_, host| Fault::Suspend { host };
    let half_a_minute = Some(Duration::from_secs(30));
    // Held from 10 ms on, the word leaves again at 51.21 s: 0.2 × (2^8 − 1) seconds later.
    assert_eq!(ends_with_a_word_sent_into(cut, half_a_minute), 51);
    assert_eq!(ends_with_a_word_sent_into(lose, half_a_minute), 51);
    assert_eq!(ends_with_a_word_sent_into(dark, half_a_minute), 51);
    assert_eq!(ends_with_a_word_sent_into(asleep, half_a_minute), 51);
    assert_eq!(ends_with_a_word_sent_into(cut, None), 0);
    assert_eq!(ends_with_a_word_sent_into(dark, None), 0);
    assert_eq!(ends_with_a_word_sent_into(asleep, None), 0);
    // The sender gives up before these are over.
    assert_eq!(ends_with_a_word_sent_into(cut, Some(Duration::from_secs(3600))), 924);
    assert_eq!(ends_with_a_word_sent_into(lose, None), 924);
}

#[test]
fn a_run_that_a_host_ends_takes_no_further_step() {
    let run = run(|host| async move {
        host.sleep(ms(5)).await;
        host.halt();
        host.sleep(ms(5)).await;
        panic!("the run has ended");
    });
    assert_eq!((run.outcome, run.ended), (Outcome::Halted, SimTime::ZERO.after(ms(5))));
}
