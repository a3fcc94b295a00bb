//! Studies that cannot be swept: what is said of them, with the line and a way out.

use snapbox::{file, str};

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
hint: known are `which-lock`, `which-service`, `fencing-forms`, `field-rates`, `my-service`, `which-library`, `library-rates`, `ttl-vs-pause`, `clock-drift-frontier`, `failover-window`, `failover-time` and `article-locks`; a file's name ends in `.toml`

"#]],
    );
    assert!(!folder.has("out"), "what is refused leaves nothing behind");
}

fn names_what_can_be_set(told: &str) {
    assert_text(told, file!["study_refused/what-can-be-set.txt"]);
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
