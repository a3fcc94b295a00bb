//! Two things that `turmoil-net` 0.1.0 does otherwise than Linux, each by the same lines of code on its network and on
//! this machine's. A version that mends one fails here: `docs/engines.md` then has a line too many.

#![expect(clippy::disallowed_methods, reason = "a real network takes its time")]

use std::io;
use std::time::Duration;

/// Listens, is connected to, and starts again on the same port while the client still has its end.
macro_rules! listens_again {
    ($($net:ident)::+) => {
        async {
            use $($net)::+::{TcpListener, TcpStream};
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
            let (_client, server) = (client?, accepted?.0);
            drop((listener, server));
            TcpListener::bind(address).await.map(drop)
        }
    };
}

/// Gets an answer from a server that then resets the connection, since it leaves something unread. Reads after that.
macro_rules! reads_after_a_reset {
    ($($net:ident)::+) => {
        async {
            use $($net)::+::{TcpListener, TcpStream};
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
            let (mut client, mut server) = (client?, accepted?.0);
            client.write_all(b"question").await?;
            server.write_all(b"answer").await?;
            // Both are there, and neither is read.
            let mut word = [0; 6];
            assert_eq!(server.peek(&mut word).await?, 6);
            assert_eq!(client.peek(&mut word).await?, 6);
            drop(server);
            tokio::time::sleep(Duration::from_millis(20)).await;
            client.read(&mut word).await.map(|count| word[..count].to_vec())
        }
    };
}

fn on_this_machine<T>(story: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made").block_on(story)
}

#[test]
fn a_port_cannot_be_opened_again_while_a_connection_lingers_on_it() {
    let here: io::Result<()> = on_this_machine(listens_again!(tokio::net));
    assert_eq!(here.map_err(|error| error.kind()), Ok(()));
    let there: io::Result<()> = turmoil_net::fixture::lo(listens_again!(turmoil_net::shim::tokio::net));
    assert_eq!(there.map_err(|error| error.kind()), Err(io::ErrorKind::AddrInUse));
}

#[test]
fn a_connection_that_is_reset_loses_what_had_arrived() {
    let here: io::Result<Vec<u8>> = on_this_machine(reads_after_a_reset!(tokio::net));
    assert_eq!(here.map_err(|error| error.kind()), Ok(b"answer".to_vec()));
    let there: io::Result<Vec<u8>> =
        turmoil_net::fixture::lo(reads_after_a_reset!(turmoil_net::shim::tokio::net));
    assert_eq!(there.map_err(|error| error.kind()), Err(io::ErrorKind::ConnectionReset));
}
