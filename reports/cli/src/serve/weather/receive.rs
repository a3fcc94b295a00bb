//! Each request, before its node executes it: is it a word for us, is its node stopped or its link cut, does a fault wait
//! for it?

use std::sync::Arc;

use doublehold_sim_redis::Received;
use doublehold_sim_redis::core::Peer;
use doublehold_sim_redis::resp::Args;

use super::gate::Gate;
use super::host::{Host, ToDo};
use super::strikes::{Blow, Struck};
use crate::serve::control::Control;
use crate::serve::first;
use crate::serve::words::{self, WORD};

impl Control {
    /// Decides what becomes of a request.
    pub(super) fn receive(
        control: &Arc<Control>,
        host: &Arc<Host>,
        from: Peer,
        request: &Args<'_>,
    ) -> Received {
        if request.at(0).eq_ignore_ascii_case(WORD) {
            return Received::Answer(words::answer(control, from, request));
        }
        if host.stop.is_closed() {
            return held_by(Arc::clone(&host.stop));
        }
        if let Some(client) = name_told_by(request) {
            control.links.name(from, &String::from_utf8_lossy(client));
        }
        if let Some(gate) = control.links.cut_gate(from) {
            return held_by(gate);
        }
        if !control.strikes.is_any_waiting() {
            return Received::Execute;
        }
        let Some(client) = control.links.client(from) else { return Received::Execute };
        match control.strikes.strike(client.as_deref(), &host.name, request) {
            Some(struck) => befall(struck, host, request),
            None => Received::Execute,
        }
    }
}

fn held_by(gate: Arc<Gate>) -> Received {
    Received::Hold(Box::pin(async move { gate.opened().await }))
}

fn befall(struck: Struck, host: &Arc<Host>, request: &Args<'_>) -> Received {
    match struck.blow {
        Blow::Hold(by) => Received::Hold(Box::pin(async move {
            first(tokio::time::sleep(by), struck.given_up()).await;
        })),
        Blow::Drop => Received::ExecuteWithoutReply,
        Blow::Repeat(after) => {
            let copy = ToDo::Send { bytes: encode(request) };
            let host = Arc::clone(host);
            tokio::spawn(async move {
                if first(tokio::time::sleep(after), struck.given_up()).await.is_left() {
                    // Who is down gets no copy, as it got no request.
                    let _ = host.order(copy).await;
                }
                drop(struck);
            });
            Received::Execute
        }
    }
}

/// The same request, for another connection.
fn encode(request: &Args<'_>) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", request.len()).into_bytes();
    for word in request.iter() {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// The name that a request gives its connection, if it does.
fn name_told_by<'a>(request: &Args<'a>) -> Option<&'a [u8]> {
    let is = |place: usize, word: &[u8]| request.at(place).eq_ignore_ascii_case(word);
    if is(0, b"CLIENT") && is(1, b"SETNAME") {
        return request.get(2);
    }
    if !is(0, b"HELLO") {
        return None;
    }
    let place = (2..request.len()).find(|&place| is(place, b"SETNAME"))?;
    request.get(place + 1)
}
