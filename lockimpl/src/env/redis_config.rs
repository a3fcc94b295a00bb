//! How to set up redis-rs under a lock, on whatever byte stream: one place, so that the simulator
//! and a real client run the same driver with the same settings.

use std::time::Duration;

use redis::{AsyncConnectionConfig, ProtocolVersion, PushInfo, RedisConnectionInfo};
use tokio::sync::mpsc::UnboundedSender;

/// Settings for `MultiplexedConnection::new_with_config`: no timeouts of the driver's own.
///
/// By default redis-rs gives up on a reply after 500 ms and on connecting after 1 s, by tokio's
/// clock. A lock's timeouts belong to its [`Env`](crate::Env), so that they wait on the client's own
/// monotonic clock and stop being special cases.
///
/// ```no_run
/// # async fn open(stream: tokio::io::DuplexStream) -> redis::RedisResult<()> {
/// use doublehold_lockimpl::{connection_config, connection_info};
/// use redis::aio::MultiplexedConnection;
///
/// let (connection, driver) =
///     MultiplexedConnection::new_with_config(&connection_info(), stream, connection_config()).await?;
/// // Run `driver` as a task of the client's host; it ends when the last clone of `connection` goes,
/// // and closes the stream.
/// # drop((connection, driver)); Ok(())
/// # }
/// ```
pub fn connection_config() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_response_timeout(None).set_connection_timeout(None)
}

/// The time that redis-rs waits for a connection where nobody sets another.
pub const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// The time that redis-rs waits for a reply where nobody sets another.
pub const RESPONSE_LIMIT: Duration = Duration::from_millis(500);

/// The same for [`Client::connect`](crate::Client::connect), whose caller meets redis-rs' own limits as in production:
/// [`RESPONSE_LIMIT`], by tokio's clock. Over a stream that stands, [`CONNECT_LIMIT`] is for whoever opened that.
pub fn default_config() -> AsyncConnectionConfig {
    AsyncConnectionConfig::new().set_response_timeout(Some(RESPONSE_LIMIT))
}

/// Who the driver says it is when it connects: nobody. RESP2, database 0, no authentication.
///
/// redis-rs otherwise opens each connection with two `CLIENT SETINFO` (an error on servers before
/// 7.2, which it ignores) and waits for both replies. With these settings it sends nothing, and
/// opening a connection costs the handshake alone.
pub fn connection_info() -> RedisConnectionInfo {
    RedisConnectionInfo::default().set_skip_set_lib_name()
}

/// The same for a connection on which the node may push ([`Env::listen`](crate::Env::listen)): what it pushes goes to
/// `pushes`, and a last word when the connection has ended.
pub fn listening_config(pushes: UnboundedSender<PushInfo>) -> AsyncConnectionConfig {
    connection_config().set_push_sender(pushes)
}

/// Who the driver says it is on such a connection: nobody, in RESP3, without which redis-rs takes no pushes. It costs
/// one `HELLO 3` when the connection is opened.
pub fn listening_info() -> RedisConnectionInfo {
    connection_info().set_protocol(ProtocolVersion::RESP3)
}
