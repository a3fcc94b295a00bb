//! The clocks and randomness that a client offers to code that exists already are its machine's.

use super::fake::{WALL_START, World, ms};
use crate::{BootTime, Client, DeadlinePassed, MonotonicTime, NodeName, Switches, WallTime};

/// A suspended machine's monotonic clock stands still, which tells the clocks apart.
#[test]
fn a_clients_clocks_timers_and_chance_are_its_machines() {
    let world = World::with_nodes(&["a"]);
    let client = Client::new(world.clone(), vec![NodeName::new("a")], Switches::new());
    world.state().wall_error = 3;
    world.suspend(ms(2), ms(12));
    world.run(client.sleep(ms(5)));
    assert_eq!(world.now(), ms(15));
    assert_eq!(world.run(client.wall()), WallTime(WALL_START + 15_000_003));
    assert_eq!(world.run(client.monotonic()), MonotonicTime(5_000_000));
    assert_eq!(world.run(client.boot()), BootTime(15_000_000));
    assert_eq!(world.run(client.timeout(ms(3), client.sleep(ms(2)))), Ok(()));
    assert_eq!(world.run(client.timeout(ms(2), client.sleep(ms(3)))), Err(DeadlinePassed));
    assert_eq!(world.now(), ms(19));

    let (one, other) = (client.token(), client.token());
    assert!(one != other && one.len() == 32, "{one} {other}");
    client.marks(b"mine");
    client.marks_key("counter");
    let marks = [one.as_bytes(), other.as_bytes(), b"mine"].map(<[u8]>::to_vec);
    let state = world.state();
    assert_eq!(state.marks, marks);
    assert_eq!(state.marked_keys, [b"counter"]);
}
