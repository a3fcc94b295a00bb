//! Lists of all variants of an enum, kept whole by the compiler.

/// All variants of an enum, in the order in which they are named. It does not compile while one is missing.
///
/// `strum` lists variants too, but in the order of their declaration only, and brings a second `syn` into the build.
///
/// ```
/// use doublehold_text::every;
///
/// #[derive(Debug, PartialEq)]
/// enum Answer { Yes, No }
///
/// const ALL: [Answer; 2] = every!(Answer: No, Yes);
/// assert_eq!(ALL[0], Answer::No);
/// ```
///
/// Variants with fields are written as values:
///
/// ```
/// use doublehold_text::every;
///
/// enum Shape { Line { length: u8 }, Point {} }
///
/// let all: [Shape; 2] = every!(Shape: Line { length: 1 }, Point {});
/// ```
///
/// ```compile_fail
/// # use doublehold_text::every;
/// # enum Answer { Yes, No }
/// let all = every!(Answer: Yes);
/// ```
#[macro_export]
macro_rules! every {
    ($name:ident: $($variant:ident),+) => {{
        const fn _knows(it: &$name) {
            match it {
                $($name::$variant => (),)+
            }
        }
        [$($name::$variant),+]
    }};
    ($name:ident: $($variant:ident { $($fields:tt)* }),+ $(,)?) => {{
        const fn _knows(it: &$name) {
            match it {
                $($name::$variant { .. } => (),)+
            }
        }
        [$($name::$variant { $($fields)* }),+]
    }};
}
