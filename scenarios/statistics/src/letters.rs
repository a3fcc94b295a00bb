//! The compact letter display: letters that say which of many are told apart, pair by pair.
//!
//! Two share a letter unless they are told apart. Ranks cannot say that: to be told apart is not transitive, so that
//! two of different ranks need not be told apart.

/// Letters for so many items of which these pairs are told apart: `ab` for an item that shares `a` with some and `b`
/// with others. The first item has an `a`.
///
/// A letter is a set of items of which no two are told apart. Sets are grown from each pair that has none yet, in the
/// order of the items: so there are few letters, and perhaps not the fewest, which would take long to find.
///
/// ```
/// use doublehold_statistics::letters;
///
/// assert_eq!(letters(3, &[]), ["a", "a", "a"]);
/// // The second lies between the others and is told apart from neither.
/// assert_eq!(letters(3, &[(0, 2)]), ["a", "ab", "b"]);
/// ```
pub fn letters(items: usize, apart: &[(usize, usize)]) -> Vec<String> {
    let mut is_apart = vec![false; items * items];
    for (one, other) in apart {
        is_apart[one * items + other] = true;
        is_apart[other * items + one] = true;
    }
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for one in 0..items {
        // Itself first: an item that is told apart from all others has a letter of its own.
        for other in one..items {
            let has_letter = sets.iter().any(|set| set.contains(&one) && set.contains(&other));
            if is_apart[one * items + other] || has_letter {
                continue;
            }
            let mut set = vec![one, other];
            for more in 0..items {
                if set.iter().all(|it| !is_apart[it * items + more]) {
                    set.push(more);
                }
            }
            sets.push(set);
        }
    }
    let of_item = |item: usize| {
        let has_item = |(_, set): &(usize, &Vec<usize>)| set.contains(&item);
        sets.iter().enumerate().filter(has_item).map(|(number, _)| letter(number)).collect()
    };
    (0..items).map(of_item).collect()
}

/// `a` to `z`, and then `a2`, `b2`.
fn letter(number: usize) -> String {
    let letter = char::from(b'a' + (number % 26) as u8);
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26 + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_shares_a_letter_unless_it_is_told_apart() {
        // All graphs of five items.
        let pairs: Vec<(usize, usize)> =
            (0..5).flat_map(|one| (one + 1..5).map(move |other| (one, other))).collect();
        for graph in 0..1_usize << pairs.len() {
            let apart: Vec<(usize, usize)> =
                (0..pairs.len()).filter(|bit| graph >> bit & 1 == 1).map(|bit| pairs[bit]).collect();
            let given = letters(5, &apart);
            for (one, other) in &pairs {
                let shares = given[*one].chars().any(|letter| given[*other].contains(letter));
                assert_eq!(shares, !apart.contains(&(*one, *other)), "{one} and {other} of {given:?}");
            }
        }
    }

    #[test]
    fn more_than_an_alphabet_goes_on() {
        let pairs: Vec<(usize, usize)> =
            (0..30).flat_map(|one| (one + 1..30).map(move |other| (one, other))).collect();
        let given = letters(30, &pairs);
        assert_eq!((given[0].as_str(), given[25].as_str(), given[27].as_str()), ("a", "z", "b2"));
    }
}
