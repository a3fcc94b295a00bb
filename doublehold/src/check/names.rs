//! Names of tests, worlds and locks as the name of a file: no two give the same, and none is too long.

/// How many bytes one name may take: enough for a sentence, and two such leave room for the lock's.
const ONE_MAX: usize = 80;
/// How many bytes all together may take. File systems take 255 bytes, and the seed and an ending come after this.
const ALL_MAX: usize = 200;

/// Several names as one.
pub(crate) fn join_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> =
        names.into_iter().map(|name| truncate_name(escape_name(name), ONE_MAX)).collect();
    truncate_name(names.join("."), ALL_MAX)
}

fn escape_name(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        match letter {
            ' ' => text.push('-'),
            '-' => text.push('~'),
            letter if letter.is_alphanumeric() || letter == '_' => text.push(letter),
            other => text.push_str(&format!("={:x}=", u32::from(other))),
        }
    }
    text
}

/// The beginning of what is longer than this, and a digest of the whole. No escaped name has a `+`.
fn truncate_name(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let digest = format!("+{:016x}", digest(&text));
    let room = most - digest.len();
    let end = (0..=room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{digest}", &text[..end])
}

/// FNV-1a. That of `std` may be another in its next version, and files would get other names.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stay_whole_and_no_two_give_the_same() {
        assert_eq!(join_names(["a test", "my-world", "lock/2"]), "a-test.my~world.lock=2f=2");
        assert_ne!(join_names(["a b"]), join_names(["a-b"]));
    }

    #[test]
    fn long_names_are_cut_to_a_beginning_and_a_digest_that_stays() {
        let long = "é".repeat(60);
        assert_eq!(join_names([long.as_str(), "lock"]), format!("{}+fe612a457b273ad5.lock", "é".repeat(31)));
        assert_ne!(join_names([format!("{long}1").as_str()]), join_names([format!("{long}2").as_str()]));
        let many = |last| join_names((0..40).map(|_| "module").chain([last]));
        assert_eq!(many("one").len(), ALL_MAX);
        assert_ne!(many("one"), many("two"));
    }
}
