//! Who waits for a key. Nobody does so far: no command blocks on one.

impl super::Core {
    /// A key is there that was not before.
    pub(crate) fn key_appeared(&mut self, _db: usize, _key: &[u8]) {}
}
