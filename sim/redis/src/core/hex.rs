//! 20 bytes as 40 hexadecimal digits: how Redis prints script names, run ids and replication ids.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// 40 lower-case digits.
pub(crate) fn encode(bytes: &[u8; 20]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Reads 40 digits of either case.
pub(crate) fn decode(text: &[u8]) -> Option<[u8; 20]> {
    if text.len() != 40 {
        return None;
    }
    let mut bytes = [0; 20];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn digit(text: u8) -> Option<u8> {
    VALUES[usize::from(text)]
}

/// What each byte means as a digit.
static VALUES: [Option<u8>; 256] = {
    let (mut values, mut value) = ([None; 256], 0);
    while value < 16 {
        let digit = DIGITS[value as usize];
        values[digit as usize] = Some(value);
        values[digit.to_ascii_uppercase() as usize] = Some(value);
        value += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_either_case_are_read_and_small_ones_are_written() {
        let bytes: [u8; 20] = std::array::from_fn(|index| (index * 13) as u8);
        let text = encode(&bytes);
        assert_eq!(text, "000d1a2734414e5b6875828f9ca9b6c3d0ddeaf7");
        assert_eq!(decode(text.as_bytes()), Some(bytes));
        assert_eq!(decode(text.to_uppercase().as_bytes()), Some(bytes));
    }

    #[test]
    fn anything_but_40_digits_is_no_name() {
        let good = "000d1a2734414e5b6875828f9ca9b6c3d0ddeaf7";
        for bad in [&good[1..], &format!("{good}0"), &good.replace('7', "g"), &good.replace("00", "+0"), ""] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }
}
