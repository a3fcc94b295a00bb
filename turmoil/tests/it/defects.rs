//! A defect of turmoil 0.7.2 that tests with partitions should know, in plain turmoil. A version that mends it fails
//! here:
//! `docs/engines.md` then has a line too many.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use turmoil::net::UdpSocket;

/// The datagrams that get from `a` to `b` although that way was cut, out of 200, while `b` sends as many to `a`. Links
/// fail and are repaired at random with this chance for each datagram.
fn pass_a_cut(chance: f64) -> u32 {
    let mut sim = turmoil::Builder::new().rng_seed(7).fail_rate(chance).repair_rate(chance).build();
    let passed = Rc::<Cell<u32>>::default();
    let seen = passed.clone();
    sim.client("b", async move {
        let socket = UdpSocket::bind("0.0.0.0:7").await?;
        for _ in 0..200 {
            socket.send_to(b"x", "a:7").await?;
            let arrives = async { socket.recv_from(&mut [0]).await };
            if tokio::time::timeout(Duration::from_millis(10), arrives).await.is_ok() {
                seen.set(seen.get() + 1);
            }
        }
        Ok(())
    });
    sim.client("a", async {
        let socket = UdpSocket::bind("0.0.0.0:7").await?;
        for _ in 0..200 {
            socket.send_to(b"x", "b:7").await?;
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    });
    sim.partition_oneway("a", "b");
    sim.run().expect("both end");
    passed.get()
}

#[test]
fn a_random_repair_undoes_an_explicit_cut_of_one_way() {
    assert_eq!(pass_a_cut(0.0), 0);
    assert!(pass_a_cut(0.2) > 20);
}
