//! Glob patterns of KEYS, CONFIG GET and SENTINEL RESET.
//!
//! Two stars need no recursion: when what follows a star fails, only the last star may take one byte more. That keeps
//! the cost to pattern × text for any pattern, where Redis' own matcher needs a nesting limit, which shows and is kept.

/// What a step costs, in bytes that could be copied meanwhile.
pub(crate) const STEP_BYTES: u64 = 4;

/// Redis' matcher gives up behind so many stars, and says that nothing matches.
const STARS: usize = 1_000;

/// Whether all of `text` matches `pattern`: `*`, `?`, `[a-c]`, `[^a]`, `\` to escape.
/// An empty text matches an empty pattern only, not even `*`: Redis' matcher needs a byte to look at.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    matches_in_steps(pattern, text, &mut 0)
}

/// The same, counting how often a byte of the pattern is looked at.
pub(crate) fn matches_in_steps(pattern: &[u8], text: &[u8], steps: &mut u64) -> bool {
    if text.is_empty() {
        return pattern.is_empty();
    }
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    let mut stars = 0;
    loop {
        *steps += 1;
        if pattern.get(p) == Some(&b'*') {
            while pattern.get(p) == Some(&b'*') {
                p += 1;
            }
            star = Some((p, t));
            stars += 1;
            if stars > STARS && p < pattern.len() {
                return false;
            }
            continue;
        }
        let next = match text.get(t) {
            None if p == pattern.len() => return true,
            None => None,
            Some(&byte) => one(&pattern[p..], byte, steps),
        };
        match (next, star) {
            (Some(used), _) => {
                p += used;
                t += 1;
            }
            (None, Some((after, taken))) if taken < text.len() => {
                star = Some((after, taken + 1));
                (p, t) = (after, taken + 1);
            }
            _ => return false,
        }
    }
}

/// Matches one byte against the first element of `pattern`; how long that element is.
fn one(pattern: &[u8], byte: u8, steps: &mut u64) -> Option<usize> {
    match pattern {
        [] => None,
        [b'?', ..] => Some(1),
        [b'[', class @ ..] => {
            let (matched, used) = class_matches(class, byte);
            *steps += used as u64;
            matched.then_some(1 + used)
        }
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [literal, ..] => (*literal == byte).then_some(1),
    }
}

/// Matches one byte against the class after a `[`; how long the class is, with its `]` if it has one.
fn class_matches(class: &[u8], byte: u8) -> (bool, usize) {
    let negated = class.first() == Some(&b'^');
    let mut index = usize::from(negated);
    let mut found = false;
    loop {
        match &class[index..] {
            [] => break,
            [b'\\', escaped, ..] => {
                found |= *escaped == byte;
                index += 2;
            }
            [b']', ..] => {
                index += 1;
                break;
            }
            [from, b'-', to, ..] => {
                found |= (*from.min(to)..=*from.max(to)).contains(&byte);
                index += 3;
            }
            [literal, ..] => {
                found |= *literal == byte;
                index += 1;
            }
        }
    }
    (found != negated, index)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn globs_match_what_redis_matches() {
        let cases: &[(&str, &str, bool)] = &[
            // KEYS * does not come here.
            ("*", "", false),
            ("", "", true),
            ("", "a", false),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("a?c", "abc", true),
            ("?", "", false),
            ("[a-c]x", "bx", true),
            ("[c-a]x", "bx", true),
            ("[^a-c]x", "bx", false),
            ("[ab]", "b", true),
            ("[ab", "b", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a\\", true),
            ("[\\]]", "]", true),
            ("**a**", "bab", true),
            ("*ab*cd*", "xxabyycdzz", true),
            ("lock:*:{stock}", "lock:7:{stock}", true),
        ];
        for &(pattern, text, expected) in cases {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn what_follows_more_than_a_thousand_stars_matches_nothing_as_in_redis() {
        let text = vec![b'a'; 5_000];
        for (stars, end, expected) in
            [(1_000, "", true), (1_001, "", false), (1_000, "*", true), (1_000, "*a", false)]
        {
            let pattern = ["*?".repeat(stars).as_str(), end].concat();
            assert_eq!(matches(pattern.as_bytes(), &text), expected, "{stars} and {end}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_decided_at_once() {
        let pattern = b"a*".repeat(10_000);
        let text = vec![b'a'; 9_999];
        assert!(!matches(&pattern, &text));
    }
}
