//! Random claims beside a plain account of each call.

use doublehold_history::ClockKind;

use super::*;
use crate::run::tests::random::Dice;

const CLIENTS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Asks,
    Claims,
    Over,
}

struct Call {
    client: ClientId,
    state: State,
    deadline: Option<Deadline>,
}

fn deadline(reading_ns: i64) -> Deadline {
    Deadline { clock: ClockKind::Wall, reading_ns }
}

/// Ends the calls of a client that are in one of these states.
fn end(calls: &mut [Call], client: ClientId, of: &[State]) {
    let its = calls.iter_mut().filter(|call| call.client == client && of.contains(&call.state));
    its.for_each(|call| call.state = State::Over);
}

fn assert_agree(claimants: &Claimants, calls: &[Call], seed: u64) {
    for (id, call) in (0..).map(CallId).zip(calls) {
        assert_eq!(claimants.may_claim(id), call.state != State::Over, "seed {seed}: {id:?}");
        for reading in 0..2 {
            let counts = call.state == State::Claims && call.deadline == Some(deadline(reading));
            assert_eq!(claimants.counts(id, deadline(reading)), counts, "seed {seed}: {id:?}, {reading}");
        }
    }
    let holds = |client| calls.iter().any(|call| call.client == client && call.state == State::Claims);
    for client in (0..CLIENTS).map(ClientId) {
        assert_eq!(!claimants.of(client).is_empty(), holds(client), "seed {seed}: {client:?}");
        let read = (0..CLIENTS).map(ClientId).filter(|it| *it == client || holds(*it));
        assert_eq!(claimants.to_read(client), read.collect::<Vec<_>>(), "seed {seed}: {client:?}");
    }
}

/// A client asks for one lock at a time, may have several, and loses all when it dies.
#[test]
fn claims_are_those_that_a_plain_account_of_each_call_has() {
    for seed in 0..200 {
        let (mut dice, mut claimants, mut calls) = (Dice(seed), Claimants::default(), Vec::<Call>::new());
        for _ in 0..40 {
            let client = ClientId(dice.roll(CLIENTS as usize) as u32);
            let any = dice.roll(calls.len().max(1));
            let asks = calls.iter().position(|call| call.client == client && call.state == State::Asks);
            match (dice.roll(8), asks) {
                (0..=2, _) => {
                    end(&mut calls, client, &[State::Asks]);
                    claimants.ask(CallId(calls.len() as u64), client);
                    calls.push(Call { client, state: State::Asks, deadline: None });
                }
                (3..=4, Some(asks)) => {
                    calls[asks].state = State::Claims;
                    claimants.begin(CallId(asks as u64), client);
                }
                (5, _) => {
                    end(&mut calls, client, &[State::Asks]);
                    claimants.record_refusal(client);
                }
                (6, _) if any % 3 == 0 => {
                    end(&mut calls, client, &[State::Asks, State::Claims]);
                    claimants.record_death(client);
                }
                (6, _) => {
                    let known = deadline(dice.roll(2) as i64);
                    calls.get_mut(any).into_iter().for_each(|call| call.deadline = Some(known));
                    claimants.set_deadline(CallId(any as u64), known);
                }
                (7, _) if calls.get(any).is_some_and(|call| call.state == State::Claims) => {
                    calls[any].state = State::Over;
                    claimants.end(CallId(any as u64));
                }
                _ => {}
            }
            assert_agree(&claimants, &calls, seed);
        }
    }
}
