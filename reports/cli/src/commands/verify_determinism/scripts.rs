//! Two leaks that the nodes' Lua once had, planted again: what one script leaves in the state that all scripts of a
//! thread share, and a memory limit that is met sooner or later by what ran there before. Each is seen; the node has
//! neither.

use std::cell::RefCell;

use doublehold_scenarios::PreparedSim;
use doublehold_scenarios::report::{Report, Summary, TraceHash};
use doublehold_sim::Record;
use doublehold_sim_redis::core::{Core, CoreConfig, Peer, ReplicationId, Session, WallMicros};
use doublehold_sim_redis::resp::OwnedArgs;
use mlua::Lua;

use super::tests::prepared;
use super::*;

/// Shows what scripts before it have left in a shared table.
const LEAVES_SOMETHING: &str = "pcall(table.insert, redis, 'leak') return #redis";
/// Comes as far as its memory reaches, and says how far; strings that exist already cost nothing.
const MEETS_ITS_LIMIT: &str = "local all, n = {}, 0 \
     pcall(function() while true do n = n + 1 all[n] = string.rep('x', 900) .. n end end) \
     all = nil return n";

/// A preparation whose trace also tells what a script answered.
struct Scripted {
    prepared: PreparedSim,
    answer: fn() -> String,
}

impl Prepared for Scripted {
    type Record = Record;

    fn judge(&self, seed: impl Into<Seed>) -> Summary {
        let summary = self.prepared.judge(seed);
        Summary { trace_hash: TraceHash(hash_with(summary.trace_hash, &(self.answer)())), ..summary }
    }

    fn run(&self, seed: impl Into<Seed>) -> Report {
        self.prepared.run(seed)
    }

    fn run_traced(&self, seed: impl Into<Seed>) -> (Report, Vec<Record>) {
        self.prepared.run_traced(seed)
    }
}

/// Another process, which has run nothing before.
struct Fresh<'a>(&'a Scripted);

impl Elsewhere for Fresh<'_> {
    fn hash(&self, seed: Seed) -> Result<String, CliError> {
        run_on_thread(|| self.0.judge(seed).trace_hash.to_string())
    }

    fn trace(&self, _seed: Seed) -> Result<Vec<String>, CliError> {
        Ok(Vec::new())
    }
}

fn hash_with(hash: TraceHash, answer: &str) -> u64 {
    answer.bytes().fold(hash.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn found_in(answer: fn() -> String) -> Option<&'static str> {
    let scripted = Scripted { prepared: prepared(), answer };
    let found = verify(&scripted, 3, &Fresh(&scripted)).expect("nothing can fail here");
    found.map(|difference| difference.place)
}

thread_local! {
    static SHARED: RefCell<Lua> = RefCell::new(Lua::new());
}

/// The script in one Lua state a thread, without the node's sandbox, as Lua comes.
fn run_in_shared_state(script: &str, memory: usize) -> String {
    SHARED.with_borrow(|lua| {
        lua.load("redis = redis or {}").exec().expect("it fits");
        lua.set_memory_limit(memory).expect("the allocator is mlua's");
        let answer: mlua::Result<i64> = lua.load(script).eval();
        lua.set_memory_limit(0).expect("the allocator is mlua's");
        format!("{answer:?}")
    })
}

fn run_on_node(script: &str) -> String {
    let config = CoreConfig { script_memory_limit: 12 << 20, ..CoreConfig::default() };
    let mut core = Core::new(config, [1; 20], ReplicationId([2; 20]));
    let mut session = Session::new(1, Peer::default(), "127.0.0.1:1".into(), WallMicros(0));
    let request: OwnedArgs = ["EVAL", script, "0"].into_iter().collect();
    let mut reply = Vec::new();
    core.execute(&mut session, WallMicros(0), &request.args(), &mut reply);
    String::from_utf8_lossy(&reply).into_owned()
}

#[test]
fn a_script_that_leaves_something_behind_for_the_next_is_found() {
    assert_eq!(found_in(|| run_in_shared_state(LEAVES_SOMETHING, 0)), Some(AFTER_OTHERS));
    assert_eq!(found_in(|| run_on_node(LEAVES_SOMETHING)), None);
}

#[test]
fn a_memory_limit_that_counts_what_ran_before_is_found() {
    let place = found_in(|| run_in_shared_state(MEETS_ITS_LIMIT, 4 << 20));
    assert!(matches!(place, Some(AFTER_OTHERS | OTHER_THREAD)), "{place:?}");
    assert_eq!(found_in(|| run_on_node(MEETS_ITS_LIMIT)), None);
}
