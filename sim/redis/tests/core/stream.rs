//! What a master's stream and a file ask for: their numbers, checked or not, do not take the node down.

use doublehold_sim_redis::core::Session;

use crate::support::{Node, words};

#[test]
fn numbers_at_the_end_of_their_range_in_a_masters_stream_are_survived() {
    let ends = ["9223372036854775807", "-9223372036854775808", "9223372036854775", "-9223372036854775", "0"];
    let commands = [
        "SET k v PX #",
        "SET k v EX #",
        "SET k v PXAT #",
        "SET k v EXAT #",
        "SETEX k # v",
        "PSETEX k # v",
        "EXPIRE k #",
        "PEXPIRE k #",
        "EXPIREAT k #",
        "PEXPIREAT k #",
        "GETEX k PXAT #",
        "GETEX k EX #",
        "SET n #",
        "INCRBY n #",
        "DECRBY n #",
        "INCR n",
        "DECR n",
        "HSET h f #",
        "HINCRBY h f #",
        "SCAN # COUNT #",
        "HSCAN h # COUNT #",
        "SELECT #",
        "GETRANGE k # #",
        "COPY k other DB #",
        "MOVE k #",
        "EVAL return # #",
        "SCAN 0 COUNT #",
    ];
    for end in ends {
        for mut link in [Session::master_link(0), Session::loading()] {
            let mut node = Node::new();
            let mut client = node.client();
            for command in commands {
                let line = command.replace('#', end);
                for command in ["SELECT 0", "SET k v", &line, "SELECT 0", "TTL k", "EXPIRETIME k"] {
                    node.apply(&mut link, &words(command));
                }
                for command in ["TTL k", "PTTL k", "EXPIRETIME k"] {
                    assert!(node.ask(&mut client, &words(command)).starts_with(':'), "{line}");
                }
                node.core.next_expiry_ms();
                node.core.expire_cycle(node.now());
            }
        }
    }
}
