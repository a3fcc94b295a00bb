//! Scripts: whatever a script does, the process lives, its node answers, another node sees nothing of it, and the same
//! script on a node of the same history gets the same reply.

#![no_main]

use doublehold_sim_redis::core::{Core, CoreConfig, Peer, ReplicationId, ScriptLimit, Session, WallMicros};
use doublehold_sim_redis::resp::OwnedArgs;
use libfuzzer_sys::fuzz_target;

/// Names everything a script can reach, in an order that does not depend on addresses.
const WORLD: &str = "local seen, names = {}, {} \
    local function visit(name, value) \
      names[#names + 1] = name \
      if type(value) ~= 'table' or seen[value] then return end \
      seen[value] = true \
      for key, inner in pairs(value) do visit(name .. '.' .. tostring(key), inner) end \
    end \
    visit('_G', _G) visit('string', getmetatable('').__index) \
    table.sort(names) return redis.sha1hex(table.concat(names, ' '))";

fuzz_target!(|script: &str| {
    let untouched = fresh().eval(WORLD);
    let (mut node, mut twin) = (fresh(), fresh());
    assert_eq!(node.eval(script), twin.eval(script), "the same script on a node of the same history");
    assert_eq!(fresh().eval(WORLD), untouched, "a script left something behind for others");
});

struct Node {
    core: Core,
    session: Session,
}

fn fresh() -> Node {
    // Small limits: an endless script must not take the fuzzer's time.
    let script_limit = ScriptLimit::Instructions(1_000_000);
    let config = CoreConfig { script_limit, script_memory_limit: 16 << 20, ..CoreConfig::default() };
    let core = Core::new(config, [1; 20], ReplicationId([2; 20]));
    Node { core, session: Session::new(1, Peer::default(), "127.0.0.1:1".into(), WallMicros(0)) }
}

impl Node {
    /// The script's reply, and whether the node still answers afterwards.
    fn eval(&mut self, script: &str) -> (Vec<u8>, Vec<u8>) {
        (self.ask(&["EVAL", script, "1", "stock", "token"]), self.ask(&["PING"]))
    }

    fn ask(&mut self, request: &[&str]) -> Vec<u8> {
        let request: OwnedArgs = request.iter().collect();
        let mut reply = Vec::new();
        self.core.execute(&mut self.session, WallMicros(1_000_000), &request.args(), &mut reply);
        reply
    }
}
