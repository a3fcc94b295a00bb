//! The name of a script.

use sha1_smol::Sha1;

/// The SHA1 that names a script.
pub(crate) fn digest(source: &[u8]) -> [u8; 20] {
    Sha1::from(source).digest().bytes()
}
