//! Who is master after a promotion: orders travel through the network, and roles through restarts.

use doublehold_history::{Event, EventKind, Predicate};
use doublehold_scenarios::format::Source;
use doublehold_scenarios::{Engine, Report, SimEngine};

/// M with the replicas R1 and R2, and a client on either side of whatever comes between them. The first client's work
/// ends long after the second one asks.
const GROUP: &str = r#"
claim = "there is one master"
lock = { algorithm = "replicated", ttl = "10s", elapsed_check = true }
nodes = { names = ["M", "R1", "R2"], master = "M", persistence = "always" }
limits = { time = "10m", obtain_within = "20s" }
[[clients]]
name = "c1"
program = ["acquire", "read", "work 8s", "check", "write", "release"]
start = "15s"
give_up_after = "60s"
[[clients]]
name = "c2"
program = ["acquire", "read", "work 1s", "check", "write", "release"]
start = "16s"
give_up_after = "60s"
"#;

/// A run of `group` with these faults.
fn report(group: &str, faults: &str, seed: u64) -> Report {
    let text = format!("faults = {faults}\n{group}");
    let source = Source { name: "group".into(), file: "group.toml".into(), text, ..Source::default() };
    let scenario = source.read().unwrap_or_else(|error| panic!("{error}"));
    SimEngine.run(&scenario, seed)
}

/// The verdicts on P1, P2 and LV, the same for every one of some seeds.
fn verdicts(faults: &str) -> [&'static str; 3] {
    verdicts_of(GROUP, faults)
}

fn verdicts_of(group: &str, faults: &str) -> [&'static str; 3] {
    let of = |seed| {
        let verdicts = report(group, faults, seed).verdicts;
        [Predicate::P1, Predicate::P2, Predicate::LV].map(|predicate| verdicts.get(predicate).as_str())
    };
    let first = of(1);
    for seed in 2..=10 {
        assert_eq!(of(seed), first, "seed {seed}");
    }
    first
}

/// c2 never finds M, so that a master that should be none makes a second holder.
const APART: &str = "{ kind = 'cut', from = 'c2', to = 'M', at = '1s' }";
const CUT: &str = "{ kind = 'cut', from = ['M','c1'], to = ['R1','R2','c2'], both_ways = true, at = '5s' }";

#[test]
fn an_isolated_master_does_not_hear_of_a_promotion_and_goes_on_granting() {
    let faults = format!("[{CUT}, {{ kind = 'promote', host = 'R1', at = '10s' }}]");
    assert_eq!(verdicts(&faults), ["violated", "violated", "holds"]);
}

#[test]
fn an_isolated_master_that_is_told_on_its_own_machine_grants_nothing_more() {
    let faults = format!(
        "[{CUT}, {{ kind = 'promote', host = 'R1', tell = 'R2', at = '10s' }},
          {{ kind = 'follow', host = 'M', master = 'R1', at = '10s' }}]"
    );
    let [p1, p2, _] = verdicts(&faults);
    assert_eq!([p1, p2], ["holds", "holds"]);
}

#[test]
fn the_order_reaches_the_old_master_when_the_cut_heals() {
    let short = CUT.replace("at = '5s'", "at = '5s', for = '6s'");
    let faults = format!("[{APART}, {short}, {{ kind = 'promote', host = 'R1', at = '7s' }}]");
    assert_eq!(verdicts(&faults), ["holds", "holds", "holds"]);
    let untold = faults.replace("host = 'R1'", "host = 'R1', tell = 'R2'");
    assert_eq!(verdicts(&untold), ["violated", "violated", "holds"]);
}

#[test]
fn a_master_that_was_down_is_told_when_it_comes_back() {
    let crash = "{ kind = 'crash', host = 'M', at = '5s', for = '7s' }";
    let faults = format!("[{APART}, {crash}, {{ kind = 'promote', host = 'R1', at = '10s' }}]");
    assert_eq!(verdicts(&faults), ["holds", "holds", "holds"]);
    let untold = faults.replace("host = 'R1'", "host = 'R1', tell = 'R2'");
    assert_eq!(verdicts(&untold), ["violated", "violated", "holds"]);
}

#[test]
fn a_client_that_reaches_two_masters_stays_with_the_one_it_found() {
    // Both clients find M first, which never hears of R1's promotion; with R1 first they would meet there as well.
    let report = report(GROUP, "[{ kind = 'promote', host = 'R1', tell = [], at = '10s' }]", 1);
    assert_eq!(report.verdicts.get(Predicate::P1).as_str(), "holds");
    let doubted = |event: &&Event| matches!(event.what, EventKind::AcquireUnknown { .. });
    assert_eq!(report.history.events().iter().filter(doubted).count(), 0);
}

/// M is demoted at 5 s; its process dies and comes back after c1 has got the lock on R1, and before c2 asks.
const DEMOTED_RESTARTS: &str = "{ kind = 'promote', host = 'R1', at = '5s' },
    { kind = 'crash', host = 'M', at = '15500ms', for = '100ms' }";
/// The same with the promoted node.
const PROMOTED_RESTARTS: &str = "{ kind = 'promote', host = 'R1', at = '5s' },
    { kind = 'crash', host = 'R1', at = '15500ms', for = '100ms' }";

fn plain(faults: &str) -> String {
    faults.replace("at = '5s'", "at = '5s', rewrite_config = false")
}

#[test]
fn a_demoted_master_that_restarts_is_still_none_if_its_configuration_was_rewritten() {
    // Without its file: what it copied from R1 would keep c2 out.
    let group = GROUP.replace("always", "none");
    let restart = format!("[{DEMOTED_RESTARTS}]");
    assert_eq!(verdicts_of(&group, &restart), ["holds", "holds", "holds"]);
    // Typed and forgotten: it is a second master, and c2 asks it first.
    assert_eq!(verdicts_of(&group, &plain(&restart)), ["violated", "violated", "holds"]);
}

#[test]
fn a_promoted_master_that_restarts_is_still_one_if_its_configuration_was_rewritten() {
    assert_eq!(verdicts(&format!("[{PROMOTED_RESTARTS}]")), ["holds", "holds", "holds"]);
    // Typed and forgotten: it follows its old master, which follows it.
    assert_eq!(verdicts(&format!("[{}]", plain(PROMOTED_RESTARTS))), ["holds", "holds", "violated"]);
}

#[test]
fn a_rewritten_configuration_survives_a_loss_of_power() {
    let faults = PROMOTED_RESTARTS.replace("'crash'", "'power-loss'");
    assert_eq!(verdicts(&format!("[{faults}]")), ["holds", "holds", "holds"]);
    let torn = faults.replace("for = '100ms'", "for = '100ms', torn_tail = true");
    assert_eq!(verdicts(&format!("[{torn}]")), ["holds", "holds", "holds"]);
}

#[test]
fn a_disk_that_lies_about_fsync_forgets_the_role_when_the_power_fails() {
    let faults = PROMOTED_RESTARTS.replace("'crash'", "'power-loss'");
    let lies = "{ kind = 'fsync-lies', host = 'R1', at = '1s' }";
    assert_eq!(verdicts(&format!("[{lies}, {faults}]")), ["holds", "holds", "violated"]);
}

#[test]
fn what_is_still_to_be_told_outlives_the_process_of_the_promoted_node() {
    // R1 dies while the cut still holds its order to M, and comes back before the cut heals.
    let short = CUT.replace("at = '5s'", "at = '5s', for = '6s'");
    let faults = format!(
        "[{APART}, {short}, {{ kind = 'promote', host = 'R1', at = '6s' }},
          {{ kind = 'crash', host = 'R1', at = '8s', for = '1s' }}]"
    );
    assert_eq!(verdicts(&faults), ["holds", "holds", "holds"]);
}

#[test]
fn a_node_that_was_made_a_replica_meanwhile_tells_nobody_to_follow_it() {
    // R1 is promoted, cannot tell M behind the cut, and is itself made to follow R2 before the cut heals. M stays a
    // master: nobody who is one has told it otherwise.
    let short = CUT.replace("at = '5s'", "at = '5s', for = '6s'");
    let faults = format!(
        "[{APART}, {short}, {{ kind = 'promote', host = 'R1', at = '6s' }},
          {{ kind = 'promote', host = 'R2', tell = 'R1', at = '8s' }}]"
    );
    let [p1, p2, _] = verdicts(&faults);
    assert_eq!([p1, p2], ["violated", "violated"]);
}
