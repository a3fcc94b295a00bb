//! The debate as it is printed: a claim, its finding, and its cases.

use crate::kit::{self, Ask, doublehold};

/// L3 has a case in which two hold by their deadlines and one in which they do not; the shorter pause is outside.
#[test]
fn a_claim_of_several_cases_says_when_it_is_right_ahead_of_them() {
    let page = doublehold(&["debate", "--only", "L3", "--format", "md"]).prints(0);
    let claim = page.split("#### L3\n").nth(1).expect("the claim");
    let finding = claim.find("\n\nRight that both believe (P1); ").expect("its sentence");
    let scope = claim.find(" Scope: a pause that outlasts the lease.\n").expect("its scope");
    let attack = claim.find("\n| outside that scope: the pause is shorter: ").expect("its attack");
    assert!(finding < scope && scope < attack);

    let text = doublehold(&["debate", "--only", "L3"]).prints(0);
    assert!(text.find("Right that both").unwrap() < text.find("as predicted").unwrap(), "{text}");
    let json = kit::json(&doublehold(&["debate", "--only", "L3", "--format", "json"]).prints(0));
    assert_eq!(
        (&json[0]["scope"], &json[0]["attacks"][0]),
        (&"a pause that outlasts the lease".into(), &2.into())
    );
}
