//! How exact the record's instants are: the longest time that a word has taken to this program and back.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Record;

/// Short beside a test, long beside a word.
const PERIOD: Duration = Duration::from_millis(100);

/// Sends a word to the port that answers words, again and again, and notes how long it took. Ends only when that port
/// is gone.
pub(crate) async fn probe(record: &Record, address: IpAddr, port: u16) {
    let Ok(mut stream) = TcpStream::connect((address, port)).await else { return };
    let mut reply = [0; b"+PONG\r\n".len()];
    // Without this, a word may wait for the answer to the one before it.
    let _ = stream.set_nodelay(true);
    loop {
        let sent = Instant::now();
        let answered = async {
            stream.write_all(b"PING\r\n").await?;
            stream.read_exact(&mut reply).await
        };
        if answered.await.is_err() {
            return;
        }
        record.note_round_trip(sent.elapsed());
        tokio::time::sleep(PERIOD).await;
    }
}
