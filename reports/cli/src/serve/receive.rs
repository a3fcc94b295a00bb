//! Each request, before its node executes it: is it a word for us, is its node stopped or its link cut, does a fault
//! wait for it?

use std::sync::Arc;

use doublehold_sim_redis::Received;
use doublehold_sim_redis::core::Peer;
use doublehold_sim_redis::resp::Args;

use super::weather::gate::Gate;
use super::weather::host::{Host, ToDo};
use super::weather::ledger::Ticket;
use super::weather::links::{Links, OnTheWay};
use super::weather::machine::Front;
use super::weather::moments::Happened;
use super::weather::requests::is_of_driver;
use super::weather::strikes::Blow;
use crate::serve::control::Control;
use crate::serve::either::first;
use crate::serve::words::{self, WORD};

/// So much of a request is shown: its command and its key, mostly.
const SHOWN: usize = 40;

impl Control {
    /// The same, as machines see it.
    pub(super) fn front(self: Arc<Self>) -> Arc<dyn Front> {
        self
    }
}

impl Front for Control {
    fn links(&self) -> &Links {
        &self.links
    }

    fn hosts(&self) -> &[Arc<Host>] {
        &self.hosts
    }

    fn receive(self: Arc<Self>, host: &Arc<Host>, from: Peer, request: &Args<'_>) -> Received {
        let control = &self;
        if request.at(0).eq_ignore_ascii_case(WORD) {
            return Received::Answer(words::answer(control, from, request));
        }
        if host.stop.is_closed() {
            return held_by(Arc::clone(&host.stop));
        }
        if request.at(0).eq_ignore_ascii_case(b"QUIT") {
            control.links.note_left(from);
        }
        if let Some(client) = name_told_by(request) {
            control.links.name(from, &String::from_utf8_lossy(client));
        }
        match control.links.pass(from) {
            OnTheWay::Passes => {}
            OnTheWay::Cut(gate) => return held_by(gate),
            OnTheWay::Slow(by) => return Received::Hold(Box::pin(tokio::time::sleep(by))),
        }
        if is_promotion(request) && control.links.client(from).is_none() {
            host.note_promoted();
            control
                .record
                .note_fault(format!("{} becomes master, as a Sentinel tells it", host.name), host.node);
        }
        let is_noted = control.requests.is_noted();
        if !is_noted && !control.strikes.is_any_waiting() && !control.moments.is_any_waiting() {
            return Received::Execute;
        }
        let Some(client) = control.links.client(from) else { return Received::Execute };
        if let Some(client) = client.as_deref() {
            if is_noted {
                control.requests.note(client, &host.name, request);
            }
            if !is_of_driver(request.at(0)) {
                control.happened(Happened::Arrived { client, node: &host.name });
            }
        }
        let Some((blow, struck)) = control.strikes.strike(client.as_deref(), &host.name, request) else {
            return Received::Execute;
        };
        control.record.note_fault(sentence(blow, client.as_deref(), host, request), host.node);
        befall(blow, struck, host, (from, request))
    }
}

fn held_by(gate: Arc<Gate>) -> Received {
    Received::Hold(Box::pin(async move { gate.opened().await }))
}

fn befall(blow: Blow, struck: Ticket, host: &Arc<Host>, (peer, request): (Peer, &Args<'_>)) -> Received {
    match blow {
        Blow::Hold(by) => Received::Hold(Box::pin(async move {
            first(tokio::time::sleep(by), struck.given_up()).await;
        })),
        Blow::Drop => Received::ExecuteWithoutReply,
        Blow::Repeat(after) => {
            let copy = ToDo::Send { bytes: encode(request), peer };
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

fn sentence(blow: Blow, client: Option<&str>, host: &Host, request: &Args<'_>) -> String {
    let words: Vec<_> = request.iter().map(String::from_utf8_lossy).collect();
    let request: String = words.join(" ").chars().take(SHOWN).collect();
    let (client, node) = (client.unwrap_or("somebody"), &host.name);
    let what = match blow {
        Blow::Hold(by) => format!("is held up for {}", doublehold_text::exact_duration(by)),
        Blow::Drop => "is executed, and its reply is lost".to_owned(),
        Blow::Repeat(after) => format!("is executed again {} later", doublehold_text::exact_duration(after)),
    };
    format!("{client}'s request to {node} {what}: `{request}`")
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

/// As Sentinels promote a node.
fn is_promotion(request: &Args<'_>) -> bool {
    let is = |place: usize, word: &[u8]| request.at(place).eq_ignore_ascii_case(word);
    request.len() == 3 && is(0, b"SLAVEOF") && is(1, b"NO")
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
