//! W on turmoil, with its default tick of one millisecond: fixed-size echoes over its TCP.
//!
//! turmoil draws delays from an exponential cut off at the maximum and rounds them to ticks, so "1–5 ms, uniform" is
//! only approximated; the number of messages and the sleeps are the same.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use turmoil::net::{TcpListener, TcpStream};

use crate::{Done, MESSAGES};

pub(crate) fn run(seed: u64) -> Done {
    let mut sim = turmoil::Builder::new()
        .rng_seed(seed)
        .simulation_duration(Duration::from_secs(60))
        .tick_duration(Duration::from_millis(1))
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(5))
        .build();
    for node in 0..5 {
        sim.host(format!("n{node}"), serve);
    }
    for client in 0..3 {
        sim.client(format!("c{client}"), ask());
    }
    sim.run().expect("W ends");
    Done { simulated: sim.elapsed(), messages: MESSAGES }
}

async fn serve() -> turmoil::Result {
    let listener = TcpListener::bind("0.0.0.0:6379").await?;
    loop {
        let (mut stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut buffer = [0; 64];
            while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                if stream.write_all(&buffer[..count]).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn ask() -> turmoil::Result {
    let mut streams = Vec::new();
    for node in 0..5 {
        streams.push(TcpStream::connect(format!("n{node}:6379")).await?);
    }
    for _ in 0..10 {
        for stream in &mut streams {
            stream.write_all(b"twenty bytes of echo").await?;
            let mut answer = [0; 20];
            stream.read_exact(&mut answer).await?;
        }
        tokio::time::sleep(Duration::from_millis(900)).await;
    }
    Ok(())
}
