//! Properties of the lock, whatever its configuration: worlds, weathers and switches are drawn.

mod own;

use std::time::Duration;

use doublehold::check::{Predicate, ScenarioError};
use doublehold::property::{Property, Worlds};

fn worlds() -> Worlds {
    Worlds::new(&own::lock())
        .clients(2..=2)
        .program(["acquire", "work 50ms..1s", "check", "release"])
        .ttl(Duration::from_secs(1)..=Duration::from_secs(3))
        .weather(["pauses-only"])
}

/// Whatever the margin is. A plan that breaks this goes to `doublehold-regressions`.
#[test]
fn given_back_by_the_script_it_never_frees_anothers_and_no_deadline_is_too_late() -> Result<(), ScenarioError>
{
    let script = worlds().with(|scenario| scenario.lock.switches.set("release", "script"));
    let property = Property::new("script", own::lock()).holds(&[Predicate::WR, Predicate::P2]);
    property.cases(300).check(script.scenarios()?);
    Ok(())
}

/// One of the two ways to give it back is wrong, and drawing finds out which: this is what a failing property prints.
#[test]
fn of_all_configurations_one_frees_anothers() -> Result<(), ScenarioError> {
    let property = Property::new("any release", own::lock()).holds(&[Predicate::WR]).no_regressions();
    let tried = property.cases(2000).run(worlds().scenarios()?).expect("the worlds make sense");
    println!("{tried}");
    let broken = tried.broken.expect("GET and DEL are two steps");
    let release = broken.report.scenario.lock.switches.get("release").map(ToString::to_string);
    assert_eq!(release.as_deref(), Some("get-then-delete"));
    Ok(())
}
