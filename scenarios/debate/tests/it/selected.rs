//! What can be typed behind `--only`.

use doublehold_debate::{Selection, claims};

fn chosen(words: &[&str]) -> Result<Vec<String>, String> {
    let claims = claims().unwrap();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let selection = Selection::parse(&words, &claims).map_err(|error| error.to_string())?;
    Ok(claims.iter().filter(|claim| selection.has(claim)).map(|claim| claim.id.clone()).collect())
}

#[test]
fn a_letter_is_its_own_claims_and_a_name_the_whole_topic() {
    let of = |words: &[&str]| chosen(words).unwrap();
    assert!(of(&["Q"]).iter().all(|id| id.starts_with('Q')));
    assert_eq!(of(&["fencing"]).len(), of(&["F", "q"]).len());
    assert_eq!(of(&["l4B"]), ["L4b"]);
    assert_eq!(of(&["T1", "S5"]), ["S5", "T1"]);
}

#[test]
fn an_unknown_word_lists_near_ones() {
    assert_eq!(
        chosen(&["S5", "redlok"]).unwrap_err(),
        "unknown topic or claim `redlok`\nhint: did you mean `redlock`?"
    );
    assert!(
        chosen(&["S99"]).unwrap_err().starts_with("unknown topic or claim `S99`\nhint: did you mean `S9`")
    );
    let far = chosen(&["zebra"]).unwrap_err();
    assert!(far.contains("topics are `one-node`, `failover`"), "{far}");
}
