//! The steps that real commands of a real node are to the claims of a key.

use std::sync::{Arc, Mutex};

use doublehold_sim_redis::core::{
    Core, CoreConfig, Observer, Origin, Peer, ReplicationId, Session, WallMicros,
};
use doublehold_sim_redis::resp::OwnedArgs;

use super::*;

/// Writes down the step of each claim that is still there.
struct Steps {
    whole: bool,
    told: Mutex<Vec<String>>,
}

impl Observer for Steps {
    fn changed(&self, _: Origin, change: &KeyChange<'_>) {
        let [before, after] =
            [change.before, change.after].map(|it| claims(LockId(0), change.key, it, self.whole));
        let stays = before.iter().filter_map(|(mark, had)| Some((mark, *had, *after.get(mark)?)));
        let steps = stays.map(|(mark, had, has)| {
            let (Mark::Value(name) | Mark::Key(name)) = &mark.1;
            format!("{} {:?}", String::from_utf8_lossy(name), step(mark, had, has, change))
        });
        self.told.lock().expect("no observer panics").extend(steps);
    }
}

/// The steps of the last command, of all that are executed after each other.
fn steps(whole: bool, commands: &str) -> String {
    let steps = Arc::new(Steps { whole, told: Mutex::default() });
    let config = CoreConfig { observer: Some(steps.clone()), ..CoreConfig::default() };
    let mut core = Core::new(config, [1; 20], ReplicationId([2; 20]));
    let now = WallMicros(1_000_000);
    let mut session = Session::new(1, Peer::default(), "10.0.0.1:5".into(), now);
    core.note_connected(&session);
    for command in commands.split("; ") {
        steps.told.lock().expect("no observer panics").clear();
        let (args, mut out) = (command.split(' ').collect::<OwnedArgs>(), Vec::new());
        let _ = core.execute(&mut session, now, &args.args(), &mut out);
        assert_ne!(out[0], b'-', "{command}: {}", String::from_utf8_lossy(&out));
    }
    let told = steps.told.lock().expect("no observer panics");
    told.join(", ")
}

/// True if the whole key is the claim; the command that made it; and each command that may follow, with the step that
/// it is to each claim.
type Case = (bool, &'static str, &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    (
        false,
        "HSET stock f 1 g x",
        &[
            ("HSET stock f 1", "f SetAlike, g SetAlike"),
            ("HSET stock f 1 h y", "f None, g None"),
            ("HSET stock f 1 g y", "f None, g Set"),
            ("HSET stock f 1 g 1", "f None, g Set"),
            ("HSET stock f x", "f Set, g None"),
            ("HSET stock f 01", "f Set, g None"),
            ("HSET stock f 0", "f Set, g None"),
            ("HMSET stock f -1", "f Set, g None"),
            ("HSET stock f 3", "f Up(2), g None"),
            ("HINCRBY stock f 3", "f Up(3), g None"),
            ("HINCRBY stock f -3", "f Down(3), g None"),
            ("HDEL stock f", "g None"),
            ("PEXPIRE stock 9", "f Kept, g Kept"),
            ("HSET other f 1 g y; RENAME other stock", "f None, g Kept"),
            ("HSET other f 0 g y; PEXPIRE other 9; RENAME other stock", "f Down(1), g Kept"),
            ("HSET other f 1 g y; PEXPIRE other 9; RENAME other stock", "f Kept, g Kept"),
        ],
    ),
    (
        false,
        "SET stock 1",
        &[
            ("SET stock 1", "1 Set"),
            ("SET stock 1 PX 9", "1 Set"),
            ("GETSET stock 1", "1 Set"),
            ("MSET stock 1", "1 Set"),
            ("PSETEX stock 9 1", "1 Set"),
            ("PEXPIRE stock 9", "1 Kept"),
            ("INCR stock", ""),
        ],
    ),
    (
        true,
        "SET stock 1",
        &[
            ("SET stock 1", "stock Set"),
            ("SET stock 5", "stock Set"),
            ("SETEX stock 9 0", "stock Set"),
            ("INCR stock", "stock Up(1)"),
            ("DECRBY stock 5", "stock Down(5)"),
            ("APPEND stock x", "stock None"),
            ("PEXPIRE stock 9", "stock Kept"),
            ("SET other 1; PEXPIRE other 9; RENAME other stock", "stock Kept"),
        ],
    ),
    (
        true,
        "SET stock x",
        &[
            ("PEXPIRE stock 9", "stock Kept"),
            ("APPEND stock y", "stock None"),
            ("SET stock 1", "stock Set"),
            ("DEL stock", ""),
        ],
    ),
    (
        true,
        "HSET stock f 1",
        &[
            ("HINCRBY stock f 1", "stock None"),
            ("HSET stock f 1", "stock None"),
            ("PEXPIRE stock 9", "stock Kept"),
        ],
    ),
];

#[test]
fn a_step_is_what_the_command_did_to_that_claim() {
    for (whole, held, cases) in CASES {
        for (command, expected) in *cases {
            assert_eq!(steps(*whole, &format!("{held}; {command}")), *expected, "{held}, then {command}");
        }
    }
}
