//! Refusals of `doublehold check` before its first run.

use snapbox::str;

use crate::kit::{Folder, assert_text};

#[test]
fn what_cannot_be_is_refused_before_the_first_run() {
    let folder = Folder::new();
    folder.write("file", "");
    let storm = "[[faults]]\nkind = \"pause\"\nhost = \"clients\"\nevery = \"1ms\"\nfor = \"1s\"\n";
    folder.write("storm.toml", storm);
    let nobody = "[[faults]]\nkind = \"pause\"\nhost = \"replicas\"\nevery = \"9s\"\nfor = \"1s\"\n";
    folder.write("nobody.toml", nobody);
    what_is_no_number(&folder);
    what_is_no_weather_and_no_place(&folder);
}

fn what_is_no_number(folder: &Folder) {
    let refused: [&[&str]; 9] = [
        &["check", "single", "--seed", "18446744073709551614", "--runs", "3"],
        &["check", "single", "--jobs", "100000"],
        &["check", "single", "--jobs", "0"],
        &["check", "single", "--runs", "0"],
        &["check", "single", "--for", "0s"],
        &["check", "single", "--for", "9y"],
        &["check", "single", "--for", "soon"],
        &["check", "single", "--for", "1s", "--runs", "5"],
        &["check", "single", "--set", "weather.for=90m"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check single --seed 18446744073709551614 --runs 3
error: `--runs 3` from seed 18446744073709551614: there are only 2 seeds from there on
hint: name a first `--seed` of at most 18446744073709551613

$ doublehold check single --jobs 100000
error: invalid value '100000' for '--jobs <N>': 100000 is not in 1..=65535

For more information, try '--help'.

$ doublehold check single --jobs 0
error: invalid value '0' for '--jobs <N>': 0 is not in 1..=65535

For more information, try '--help'.

$ doublehold check single --runs 0
error: invalid value '0' for '--runs <N>': 0 is not in 1..=1000000000000

For more information, try '--help'.

$ doublehold check single --for 0s
error: invalid value '0s' for '--for <TIME>': a search of no time makes no run: use something such as `60s`

For more information, try '--help'.

$ doublehold check single --for 9y
error: invalid value '9y' for '--for <TIME>': use at most `720h`, which is 30 days: `--seed` goes on where a search has ended

For more information, try '--help'.

$ doublehold check single --for soon
error: invalid value 'soon' for '--for <TIME>': must be a duration such as "2.5s", not `soon`; the units are `ns`, `us`, `ms`, `s`, `m`, `h`, `d` and `y`

For more information, try '--help'.

$ doublehold check single --for 1s --runs 5
error: the argument '--for <TIME>' cannot be used with '--runs <N>'

Usage: doublehold check --for <TIME> <LOCK|NAME|FILE>

For more information, try '--help'.

$ doublehold check single --set 'weather.for=90m'
error: cannot read scenario `single`: `--set weather.for=90m`: `weather.for` is 90 min and `limits.time` 1 h: weather must end before the run, or no run could show what comes after
hint: shorten the one or raise the other, which is `1h` where nothing is said

"#]],
    );
}

fn what_is_no_weather_and_no_place(folder: &Folder) {
    let refused: [&[&str]; 8] = [
        &["check", "redlok"],
        &["check", "single", "--predicate", "P9"],
        &["check", "single", "--weather", "clod"],
        &["check", "single", "--weather", "none.toml"],
        &["check", "single", "--weather", "nobody.toml"],
        &["check", "single", "--weather", "storm.toml"],
        &["check", "single", "--out", "file/x"],
        &["check", "single", "--junit", "nowhere/j.xml"],
    ];
    assert_text(
        folder.refusals(&refused),
        str![[r#"
$ doublehold check redlok
error: `redlok` is neither a lock nor a scenario
hint: did you mean `redlock` or `redlock-py`?

$ doublehold check single --predicate P9
error: invalid value 'P9' for '--predicate <P1,P2,…>': the predicates are P1, P2, P3, P4, WR, LV

For more information, try '--help'.

$ doublehold check single --weather clod
error: unknown weather `clod`
hint: did you mean `cloud`?

$ doublehold check single --weather none.toml
error: cannot read weather `none.toml`: No such file or directory (os error 2)
hint: name a file that exists and that you may read

$ doublehold check single --weather nobody.toml
error: the weather strikes nobody here: there is no host for its pause
hint: let a line name hosts that there are, such as `clients`; `--weather calm` asks for no faults

$ doublehold check single --weather storm.toml
error: cannot read weather `storm.toml`: line 4: `faults.0.every` is 1 ms, and the weather lasts 20 s: that is more than 100 faults on one host in a run
hint: use at least "200ms", or a shorter `for` of the weather

$ doublehold check single --out file/x
error: cannot write counterexamples to `file/x`: Not a directory (os error 20)
hint: name a folder that you may write to, or one that is not there yet

$ doublehold check single --junit nowhere/j.xml
error: cannot write the JUnit result to `nowhere/j.xml`: No such file or directory (os error 2)
hint: name a file in a directory that exists and that you may write to

"#]],
    );
}
