//! The catalogue and a user's own file, listed and run with all variants.

use doublehold_scenarios::topics::TOPICS;
use snapbox::str;

use crate::cli::SCENARIO;
use crate::kit::{self, Ask, Folder, assert_text, doublehold};

#[test]
fn a_file_is_listed_with_its_variants() {
    let folder = Folder::new();
    let variant = "[[variants]]\nname = \"short\"\nclaim = \"Another claim\"\nset = { \"lock.ttl\" = \"3s\" }\nexpect = { P2 = \"holds\" }\n";
    let mine = folder.write("mine.toml", format!("{SCENARIO}{variant}"));
    assert_text(
        folder.doublehold(&["list", "mine.toml"]).prints(0),
        str![[r#"
mine
      Two clients take turns
      shows P1 hold

  mine/short
      Another claim
      shows P1 P2 hold

P1 claim overlap P2 valid overlap P3 stale effect P4 data anomaly WR wrong release LV liveness

"#]],
    );
    let json = kit::json(&doublehold(&["list", &mine, "--format", "json"]).prints(0));
    assert_eq!((&json[0]["name"], &json[1]["expect"]["P2"]), (&"mine".into(), &"holds".into()));
    assert_text(
        doublehold(&["list", "clock-jumb"]).refused(),
        str![[r#"
error: unknown scenario `clock-jumb`
hint: did you mean `clock-jump`?

"#]],
    );
}

#[test]
fn all_variants_are_run_a_line_for_each_and_the_worst_decides_the_status() {
    let text = doublehold(&["run", "clock-jump", "--all-variants"]).prints(0);
    assert_text(
        text,
        str![[r#"
clock-jump                 as expected: P1 P2 P3 P4 violated; WR LV hold
clock-jump/k3-one-jump     as expected: P1 P2 P3 P4 violated; WR LV hold
clock-jump/k4-one-jump     as expected: P1 P2 P3 P4 WR LV hold
clock-jump/k4-two-jumps    as expected: P1 P2 P3 P4 violated; WR LV hold
clock-jump/k5-two-jumps    as expected: P1 P2 P3 P4 WR LV hold
clock-jump/k5-three-jumps  as expected: P1 P2 P3 P4 violated; WR LV hold

"#]],
    );
    let folder = Folder::new();
    let variant = |name: &str, set: &str| format!("[[variants]]\nname = \"{name}\"\n{set}\n");
    let worse = [
        variant("never", "set = { \"faults.0.at\" = \"the 9th c1's write\" }"),
        variant("wrong", "expect = { P1 = \"violated\" }"),
    ];
    folder.write("undecided.toml", format!("{SCENARIO}{}", worse[0]));
    let text = folder.doublehold(&["run", "undecided.toml", "--all-variants"]).prints(3);
    assert_text(
        text,
        str![[r#"
undecided        as expected: P1 hold; not stated: P2 P3 P4 WR LV hold
undecided/never  INCONCLUSIVE: P1 inconclusive; not stated: P2 P3 P4 WR LV inconclusive
    replay: doublehold run undecided.toml/never --seed 1

"#]],
    );
    folder.write("both.toml", format!("{SCENARIO}{}", worse.concat()));
    let both = ["run", "both.toml", "--all-variants"];
    let text = folder.doublehold(&both).args(["--seed", "2"]).prints(1);
    assert_text(
        text,
        str![[r#"
both        as expected: P1 hold; not stated: P2 P3 P4 WR LV hold
both/never  INCONCLUSIVE: P1 inconclusive; not stated: P2 P3 P4 WR LV inconclusive
    replay: doublehold run both.toml/never --seed 2
both/wrong  NOT AS EXPECTED: P1 hold; not stated: P2 P3 P4 WR LV hold
    replay: doublehold run both.toml/wrong --seed 2

"#]],
    );
    let answer = folder.doublehold(&both).args(["--format", "json"]).answer();
    let json = kit::json(&answer.stdout);
    let judgements: Vec<&str> = json
        .as_array()
        .expect("an array")
        .iter()
        .map(|it| it["judgement"].as_str().expect("a word"))
        .collect();
    assert_eq!((answer.status, judgements), (Some(1), vec!["as-expected", "inconclusive", "contradicted"]));
    assert_text(
        folder.doublehold(&both).args(["--plan", "p.plan"]).refused(),
        str![[r#"
error: the argument '--all-variants' cannot be used with '--plan <FILE>'

Usage: doublehold run --all-variants <NAME|FILE>

For more information, try '--help'.

"#]],
    );
}

#[test]
fn the_catalogue_is_listed_for_people_and_for_programs() {
    let json = kit::json(&doublehold(&["list", "--format", "json"]).prints(0));
    let entries = json.as_array().expect("an array");
    assert!(entries.len() > 20, "{} entries", entries.len());
    let text = doublehold(&["list", "--all"]).prints(0);
    for entry in entries {
        let name = entry["name"].as_str().expect("a name");
        assert!(
            entry["claim"].is_string() && entry["story"].is_string() && entry["expect"].is_object(),
            "{entry}"
        );
        assert!(
            text.lines().any(|line| line.split_whitespace().next() == Some(name)),
            "{name} is not in the list"
        );
    }
}

#[test]
fn topics_are_listed_first_and_each_has_its_scenarios() {
    let contents = doublehold(&["list"]).prints(0);
    for topic in TOPICS {
        let head = contents.lines().find(|line| line.starts_with(&format!("{}: ", topic.name)));
        let text = doublehold(&["list", topic.name]).prints(0);
        let scenarios = text.split("\n\n").count() - 1;
        let counted = format!("{}: {scenarios} scenario", topic.name);
        assert!(head.is_some_and(|head| head.starts_with(&counted)), "{head:?} is not {counted}");
        assert!(text.lines().any(|line| line == topic.start), "{} begins elsewhere", topic.name);
    }
    assert_text(
        doublehold(&["list", "redlok"]).refused(),
        str![[r#"
error: unknown scenario `redlok`
hint: did you mean the topic `redlock`? `doublehold list` has all of them

"#]],
    );
}

#[test]
fn an_id_is_the_users_own_label_and_nothing_where_none_is_given() {
    let folder = Folder::new();
    let labelled = folder.write("mine.toml", format!("id = \"SHOP-12\"\n{SCENARIO}"));
    let text = doublehold(&["run", &labelled]).prints(0);
    assert!(text.lines().any(|line| line == "  id: SHOP-12"), "{text}");
    let json = kit::json(&doublehold(&["run", &labelled, "--format", "json"]).prints(0));
    assert_eq!(json["id"], "SHOP-12");

    let text = doublehold(&["run", "clock-jump"]).prints(0);
    assert!(!text.contains("(claim ") && !text.contains("  id: "), "{text}");
    let json = kit::json(&doublehold(&["run", "clock-jump", "--format", "json"]).prints(0));
    assert_eq!(json.get("id"), None);
    let json = kit::json(&doublehold(&["list", "--format", "json"]).prints(0));
    for entry in json.as_array().expect("an array") {
        assert_eq!(entry.get("id"), None, "{entry}");
    }
}
