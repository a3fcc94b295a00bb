//! The settings of `cjson`, which outlive the script that changes them.

/// What scripts may set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(super) sparse_convert: bool,
    pub(super) sparse_ratio: i32,
    pub(super) sparse_safe: i32,
    pub(super) encode_depth: i32,
    pub(super) decode_depth: i32,
    pub(super) precision: i32,
    pub(super) keep_buffer: bool,
    pub(super) encode_invalid: Invalid,
    pub(super) decode_invalid: bool,
}

/// What becomes of infinity and NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invalid {
    Refused,
    Written,
    Null,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            sparse_convert: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_depth: 1000,
            decode_depth: 1000,
            precision: 14,
            keep_buffer: true,
            encode_invalid: Invalid::Refused,
            decode_invalid: true,
        }
    }
}
