//! Studies that cannot be swept: what is said of them, with the line and a way out.

use snapbox::str;

use crate::kit::{Ask, Folder, assert_text};
use crate::sweep::TINY;

#[test]
fn a_study_that_cannot_be_is_refused_with_its_line_and_a_way_out() {
    let folder = Folder::new();
    let swept = |text: &str| {
        folder.write("study.toml", text);
        folder.doublehold(&["sweep", "study.toml", "--out", "out"]).refused()
    };
    let with = |more: &str| swept(&format!("{TINY}{more}"));
    names_what_can_be_set(&with("[grid]\n\"lock.tll\" = [\"1s\"]\n"));
    names_what_is_wrong_with_a_table(with);
    assert_text(
        swept(&TINY.replace("\"single\"\nlock = \"single\"", "\"a\"\nlock = \"sinlge\"")),
        str![[r#"
error: cannot read study `study.toml`: line 8: there is no lock `sinlge`
hint: did you mean `single`?

"#]],
    );
    assert_text(
        swept("question = \"what?\"\n"),
        str![[r#"
error: cannot read study `study.toml`: line 1: the study has no designs
hint: add one: `[[designs]]` with `name = "single"` and `lock = "single"`

"#]],
    );
    assert_text(
        folder.refusals(&[["sweep", "witch-lock"], ["sweep", "mine"]]),
        str![[r#"
$ doublehold sweep witch-lock
error: unknown study `witch-lock`
hint: did you mean `which-lock`?

$ doublehold sweep mine
error: unknown study `mine`
hint: known are `which-lock`, `field-rates`, `which-library`, `library-rates`, `ttl-vs-pause`, `clock-drift-frontier`, `failover-window` and `article-locks`; a file's name ends in `.toml`

"#]],
    );
    assert!(!folder.has("out"), "what is refused leaves nothing behind");
}

fn names_what_can_be_set(told: &str) {
    assert_text(
        told,
        str![[r#"
error: cannot read study `study.toml`: line 10: unknown parameter `lock.tll` of design `single`
hint: did you mean `lock.ttl`? Known are:
  clients.count: a whole number, 3
  clients.give_up_after: a duration, "600s"
  clients.on_lost_lock: a word, "stop"
  clients.retry: a duration or a law, "1s..3s"
  clients.rounds: a whole number, 2
  clients.work: a duration or a law, "50ms..1.5s"
  clocks.clients.drift: a ratio, "0/1"
  clocks.clients.offset: a duration, "0s"
  clocks.nodes.drift: a ratio, "0/1"
  clocks.nodes.offset: a duration, "0s"
  faults: a list, []
  limits.after_faults: true or false, true
  limits.events: a whole number, 1000000
  limits.memory: a size, "1 GiB"
  limits.obtain_within: a duration, "60s"
  limits.time: a duration, "3600s"
  lock.clock: a word, "monotonic"
  lock.deadline_from: a word, "send"
  lock.drift_constant: a duration, "2ms"
  lock.drift_ratio: a ratio, "1/100"
  lock.elapsed_check: true or false, false
  lock.expiry: a word, "px"
  lock.expiry_clock: a word, "node"
  lock.extend_adds: true or false, false
  lock.extend_by: a word, "compare"
  lock.extend_if_missing: true or false, false
  lock.fencing: true or false, false
  lock.initial_ttl: a word, "none"
  lock.on_timeout: a word, "reconnect"
  lock.own_token_counts: true or false, false
  lock.probe: a word, "none"
  lock.release: a word, "compare-and-delete"
  lock.release_on_failure: true or false, true
  lock.renew_every: a word, "none"
  lock.request_timeout: a duration, "1s"
  lock.tells_deadline: true or false, true
  lock.token: a word, "attempt"
  lock.token_value: a word, "random"
  lock.transport_retries: a whole number, 0
  lock.ttl: a duration, "4s"
  lock.unchecked_deadline: true or false, false
  lock.wake: a word, "none"
  network.delay: a duration or a law, "1ms..5ms"
  network.links: a list, []
  network.loss: a ratio, "0/1"
  nodes.command_time: a duration, "0s"
  nodes.count: a whole number, 1
  nodes.fsync_time: a duration, "1ms"
  nodes.min_replicas_max_lag: a duration, "10s"
  nodes.min_replicas_to_write: a whole number, 0
  nodes.persistence: a word, "none"
  nodes.restart_after: a duration, "0s"
  nodes.restart_clock: a word, "true-time"
  nodes.scripts: a word, "unknown"
  nodes.snapshot_interval: a duration, "3600s"
  nodes.version: a word, "7.0"
  resource.fence_reads: true or false, false
  resource.fencing: a word, "off"
  resource.object: a word, "stock"
  resource.version_check: true or false, false
  weather: a weather, a file of one, or "none", as the study says
  weather.at_steps: a ratio, "0/1"
  weather.for: a duration, "20s"
  weather.pause.every: a duration, "20s" and others
  weather.pause.for: a duration or a law, { median = "3s", sigma = "2/2" } and others
  weather.pause.host: a list, ["clients"] and others
  weather.swarm: true or false, false

"#]],
    );
}

fn names_what_is_wrong_with_a_table(with: impl Fn(&str) -> String) {
    let more = [
        "[grid]\n",
        "[grid]\n\"lock.ttl\" = []\n",
        "[grid]\n\"lock.ttl\" = [\"1s\", \"0s\"]\n",
        "[grid]\nlock.ttl = [\"1s\"]\n",
        "[strata]\nkinds = [\"crash\"]\nfaults = 1\n",
        "[strata]\nkinds = [\"pause\", \"pause\"]\nfaults = 1\n",
        "[strata]\nkinds = [\"pauze\"]\nfaults = 1\n",
    ];
    assert_text(
        more.map(|more| format!("{more}{}", with(more))).join("\n"),
        str![[r#"
[grid]
error: cannot read study `study.toml`: line 9: the grid is empty
hint: add a parameter with its values, such as `"lock.ttl" = ["1s", "10s"]`, or leave `[grid]` out

[grid]
"lock.ttl" = []
error: cannot read study `study.toml`: line 10: the grid is empty: `lock.ttl` has no values
hint: list at least one value, such as `["1s", "10s"]`, or leave the parameter out

[grid]
"lock.ttl" = ["1s", "0s"]
error: cannot read study `study.toml`: line 10: design `single` with `lock.ttl = 0s`: `lock.ttl` is zero
hint: use a longer duration, such as "10s"

[grid]
lock.ttl = ["1s"]
error: cannot read study `study.toml`: line 10: `lock` is a table
hint: write the whole name in quotes, such as `"lock.ttl" = "10s"`

[strata]
kinds = ["crash"]
faults = 1
error: cannot read study `study.toml`: line 6: design `single`: the weather has `pause`, and `strata.kinds` does not
hint: name it there, or take it out of the weather

[strata]
kinds = ["pause", "pause"]
faults = 1
error: cannot read study `study.toml`: line 10: `strata.kinds` has `pause` twice
hint: name each kind once

[strata]
kinds = ["pauze"]
faults = 1
error: cannot read study `study.toml`: line 10: `strata.kinds`: there is no fault `pauze`
hint: did you mean `pause`?

"#]],
    );
}
