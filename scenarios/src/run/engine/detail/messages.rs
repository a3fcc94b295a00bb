//! Pairs each message with its arrival, and reads what the bytes of each connection say.
//!
//! A connection is ordered, so the n-th arrival of a direction is that of the n-th message sent. What a machine sends
//! to itself (an operator types there) crosses no lane, and a trace does not tell its two directions apart: left out.

use std::collections::{BTreeMap, VecDeque};

use doublehold_sim::{ConnectionId, Event, HostId, Record};

use super::phrases::Listener;
use crate::detail::Message;
use crate::model::cast::{Cast, Member};
use crate::model::scenario::Scenario;
use crate::run::clocks::true_time;

/// One direction of a connection.
#[derive(Default)]
struct Direction {
    listener: Listener,
    /// Those that have not arrived, by their places among all messages.
    under_way: VecDeque<usize>,
}

pub(super) fn messages(scenario: &Scenario, cast: &Cast, trace: &[Record], sent: &[Vec<u8>]) -> Vec<Message> {
    let objects: Vec<&str> = scenario.resource.objects.iter().map(|object| object.name.as_str()).collect();
    let mut bytes = sent.iter();
    let mut messages: Vec<Message> = Vec::new();
    let mut directions: BTreeMap<(ConnectionId, HostId), Direction> = BTreeMap::new();
    for record in trace {
        let at = true_time(record.at);
        match record.event {
            Event::Connecting { connection, from, to } => {
                let with_resource = cast.member_of_world(to) == Some(Member::Resource);
                for (sender, opener) in [(from, true), (to, false)] {
                    let listener = Listener::new(opener, with_resource);
                    directions
                        .insert((connection, sender), Direction { listener, under_way: VecDeque::new() });
                }
            }
            Event::Sent { connection, from, to, .. } => {
                let (Some(bytes), Some(from_host), Some(to)) =
                    (bytes.next(), cast.of_world(from), cast.of_world(to))
                else {
                    continue;
                };
                if from_host == to {
                    continue;
                }
                let direction = directions.entry((connection, from)).or_default();
                direction.under_way.push_back(messages.len());
                messages.push(Message {
                    connection: connection.0,
                    from: from_host,
                    to,
                    sent: at,
                    arrived: None,
                    held: Vec::new(),
                    bytes: bytes.len(),
                    phrases: direction.listener.hear(bytes, &objects),
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
