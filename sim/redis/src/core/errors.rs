//! Error replies that are constants.

pub(crate) const WRONG_TYPE: &[u8] = b"WRONGTYPE Operation against a key holding the wrong kind of value";
pub(crate) const NOT_INTEGER: &[u8] = b"ERR value is not an integer or out of range";
pub(crate) const NOT_FLOAT: &[u8] = b"ERR value is not a valid float";
pub(crate) const NO_FINITE_SUM: &[u8] = b"ERR increment would produce NaN or Infinity";
pub(crate) const SYNTAX: &[u8] = b"ERR syntax error";
pub(crate) const NOT_IN_TRANSACTION: &[u8] = b"ERR Command not allowed inside a transaction";
pub(crate) const BUSY: &[u8] =
    b"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
pub(crate) const READ_ONLY: &[u8] = b"READONLY You can't write against a read only replica.";
pub(crate) const NO_REPLICAS: &[u8] = b"NOREPLICAS Not enough good replicas to write.";
pub(crate) const NO_SUCH_KEY: &[u8] = b"ERR no such key";
pub(crate) const SAME_OBJECT: &[u8] = b"ERR source and destination objects are the same";
pub(crate) const MASTER_DOWN: &[u8] =
    b"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
pub(crate) const OUT_OF_MEMORY: &[u8] = b"OOM command not allowed when used memory > 'maxmemory'.";
pub(crate) const TOO_LONG: &[u8] = b"ERR the reply is longer than the client's output buffer may be";
pub(crate) const EXEC_ABORT: &[u8] = b"EXECABORT Transaction discarded because of previous errors.";
