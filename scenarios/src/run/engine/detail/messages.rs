//! Pairs each message with its arrival, and reads what the bytes of each connection say.
//!
//! A connection is ordered, so the n-th arrival of a direction is that of the n-th message sent. What a machine sends
//! to itself (an operator types there) crosses no lane, and a trace does not tell its two directions apart: left out.

use std::collections::{BTreeMap, VecDeque};

use doublehold_sim::{ConnectionId, Event, HostId, Record};

use super::phrases::Listener;
use super::scripts::HeardScripts;
use crate::detail::{Message, Phrase};
use crate::model::cast::{Cast, Member};
use crate::model::scenario::{HostIndex, Scenario};
use crate::run::client::resource;
use crate::run::clocks::true_time;
use crate::run::keys::attribution::ConnectionNumber;
use crate::run::recorder::{Recorder, Sent};

/// One direction of a connection.
#[derive(Default)]
struct Direction {
    listener: Listener,
    /// Those that have not arrived, by their places among all messages.
    under_way: VecDeque<usize>,
}

/// Who of a process's threads speaks and is spoken to.
struct Threads<'a> {
    cast: &'a Cast,
    recorder: &'a Recorder,
    /// The thread that asked last on each connection.
    last: BTreeMap<ConnectionId, HostIndex>,
}

impl Threads<'_> {
    /// The thread that a message is of, of a process. What belongs to no call (what opens a connection, a piece of
    /// something longer) is taken to be of the thread that the connection carried something of before.
    fn find_thread(
        &mut self,
        connection: ConnectionId,
        process: HostIndex,
        bytes: &[u8],
        phrases: &[Phrase],
    ) -> HostIndex {
        let number = ConnectionNumber(connection.0);
        let of_phrase = |phrase: &Phrase| {
            self.recorder.whose(Sent { client: None, connection: number, request: phrase.number })
        };
        let known = phrases.iter().find_map(of_phrase).or_else(|| {
            let grant = resource::grant_of(bytes)?;
            self.recorder.client_of(grant)
        });
        let known = known.map(|client| self.cast.client(client));
        if let Some(thread) = known {
            self.last.insert(connection, thread);
        }
        known.or_else(|| self.last.get(&connection).copied()).unwrap_or(process)
    }
}

pub(super) fn messages(
    scenario: &Scenario,
    (cast, recorder): (&Cast, &Recorder),
    trace: &[Record],
    sent: &[Vec<u8>],
) -> Vec<Message> {
    let mut threads = Threads { cast, recorder, last: BTreeMap::new() };
    let objects: Vec<&str> = scenario.resource.objects.iter().map(|object| object.name.as_str()).collect();
    let (mut bytes, mut scripts) = (sent.iter(), HeardScripts::default());
    let mut messages: Vec<Message> = Vec::new();
    let mut directions: BTreeMap<(ConnectionId, HostId), Direction> = BTreeMap::new();
    for record in trace {
        let at = true_time(record.at);
        match record.event {
            Event::Connecting { connection, from, to } => {
                let with_resource = cast.member_of_world(to) == Some(Member::Resource);
                for (sender, opener) in [(from, true), (to, false)] {
                    let listener = listener(scenario, opener, with_resource);
                    directions
                        .insert((connection, sender), Direction { listener, under_way: VecDeque::new() });
                }
            }
            Event::Sent { connection, from, to, .. } => {
                let (Some(bytes), Some(from_host), Some(to)) =
                    (bytes.next(), cast.host_from_world(from), cast.host_from_world(to))
                else {
                    continue;
                };
                if from_host == to {
                    continue;
                }
                let direction = directions.entry((connection, from)).or_default();
                direction.under_way.push_back(messages.len());
                let phrases = direction.listener.hear(bytes, &objects, &mut scripts);
                let [from, to] = [from_host, to].map(|host| match cast.member(host) {
                    Member::Process => threads.find_thread(connection, host, bytes, &phrases),
                    Member::Client(_) | Member::Node(_) | Member::Sentinel(_) | Member::Resource => host,
                });
                messages.push(Message {
                    connection: connection.0,
                    from,
                    to,
                    sent: at,
                    arrived: None,
                    held: Vec::new(),
                    bytes: bytes.len(),
                    phrases,
                });
            }
            Event::Delivered { connection, from, .. } => {
                let direction = directions.get_mut(&(connection, from));
                if let Some(place) = direction.and_then(|direction| direction.under_way.pop_front()) {
                    messages[place].arrived = Some(at);
                }
            }
            Event::Held { connection, from, .. } => {
                let under_way = directions.get(&(connection, from)).map(|direction| &direction.under_way);
                let held =
                    under_way.and_then(|places| places.iter().min_by_key(|it| messages[**it].held.len()));
                if let Some(place) = held.copied() {
                    messages[place].held.push(at);
                }
            }
            _ => {}
        }
    }
    messages
}

/// Listens to one direction: with the resource, with a service, or with a node.
fn listener(scenario: &Scenario, opener: bool, with_resource: bool) -> Listener {
    match scenario.service {
        Some(service) if !with_resource => Listener::with_service(opener, service.kind()),
        _ => Listener::new(opener, with_resource),
    }
}
