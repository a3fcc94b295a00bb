//! From a word to its reply. What only changes or asks something is done at once; what a host's process has to do, or
//! what is waited for, takes its time.

use std::sync::Arc;
use std::time::Duration;

use doublehold_history::{History, Predicate, Verdict, judge};
use doublehold_pages::figure::{self, Options};
use doublehold_render::picture::view::View;
use doublehold_scenarios::when::Mark;
use doublehold_sim_redis::core::Peer;

use super::said::Said;
use super::word::{USAGES, Word};
use crate::serve::control::{Control, type_in};
use crate::serve::either::first;
use crate::serve::record::Statement;
use crate::serve::weather::host::ToDo;
use crate::serve::weather::moments::{Happened, Timed};

/// The reply to a word that takes no time; the word itself, if it does.
pub(super) fn at_once(control: &Arc<Control>, from: Peer, word: Word) -> Result<Said, Word> {
    match word {
        Word::Clock { host, by_us } => host.step_clock(by_us),
        Word::Drift { host, ppm } => host.drift_clocks(ppm),
        Word::Pause { host, duration } => host.pause(duration),
        Word::Slow { host, by } => host.slow_down(by),
        Word::Strike(strike) => control.strikes.arm(strike, &control.ledger),
        Word::At { typed, when, word } => {
            let words = vec![(Duration::ZERO, *word)];
            control.arm(Timed { typed, when, words, each: false, is_optional: false });
        }
        Word::Cut(ways) => control.links.cut(ways),
        Word::HealAll => control.links.heal_all(),
        Word::Heal(ways) => {
            if !control.links.heal(ways) {
                return Ok(Said::Error("there is no such cut: `DOUBLEHOLD STATUS` lists them".to_owned()));
            }
        }
        Word::SlowLink { way, by } => control.links.slow_down(way, by),
        Word::ResetConnections { client, host } => {
            let kills = control.links.shut(&client, &host.name).into_iter();
            let kills: Vec<String> = kills.map(|address| format!("CLIENT KILL ADDR {address}")).collect();
            tokio::spawn(async move { host.order(type_in(&kills)).await });
        }
        Word::Status => return Ok(Said::Lines(status(control))),
        Word::Help => {
            return Ok(Said::Lines(USAGES.iter().map(|it| format!("{}: {}", it.line(), it.does)).collect()));
        }
        Word::Iam(client) => control.links.name(from, &client),
        Word::Tell { client, lock, told } => {
            return Ok(Said::done(tell(control, &client, lock.as_deref(), told)));
        }
        Word::Read { key } => return Ok(read(control, from, &key)),
        Word::Write { key, value, fence } => {
            return Ok(Said::done(client_of(control, from).and_then(|client| {
                control.happened(Happened::Marked { client: &client, mark: Mark::Write });
                control.record.write(&client, &key, &value, fence)
            })));
        }
        Word::Verdict(predicate) => return Ok(verdict(&control.history(), predicate)),
        Word::History => return Ok(history(&control.history())),
        Word::Picture => return Ok(picture(&control.history())),
        word => return Err(word),
    }
    Ok(Said::ok())
}

/// The reply to a word that takes its time.
pub(super) async fn in_time(control: &Arc<Control>, word: Word) -> Said {
    Said::done(match word {
        Word::Crash(host) => host.order(ToDo::Crash).await,
        Word::Restart(host) => host.order(ToDo::Restart).await,
        Word::Promote { host, tell } => control.promote(&host, &tell).await,
        Word::RefuseWrites { host, refuses } => control.refuse_writes(&host, refuses).await,
        Word::Flush(host) => host.order(type_in(&["FLUSHALL".to_owned()])).await,
        Word::Evict { host, volatile_only } => host.order(ToDo::Evict { volatile_only }).await,
        Word::Await { over, at_most } => await_strikes(control, over, at_most).await,
        Word::Reset { name } => control.reset(name).await,
        _ => Ok(()),
    })
}

async fn await_strikes(control: &Control, over: bool, at_most: Duration) -> Result<(), String> {
    let struck = first(control.ledger.all_struck(over), tokio::time::sleep(at_most)).await;
    if struck.is_left() {
        return Ok(());
    }
    let mut missing = control.ledger.waiting();
    if over {
        missing.extend(control.ledger.under_way());
    }
    Err(missing.join("; "))
}

fn status(control: &Control) -> Vec<String> {
    let hosts = control.hosts.iter().map(|host| {
        let state = host.state();
        let state = if state.is_empty() { "well".to_owned() } else { state.join(", ") };
        format!("{} on port {}: {state}", host.name, host.port)
    });
    let cuts = control.links.state_words();
    let clients = control.links.clients().into_iter().map(|client| format!("{client} has connections"));
    let strikes = control.ledger.waiting().into_iter().chain(control.ledger.under_way());
    hosts.chain(cuts).chain(strikes).chain(clients).collect()
}

/// Writes down what a client tells; then faults that wait for it strike, before the client goes on.
fn tell(control: &Arc<Control>, client: &str, lock: Option<&str>, told: Statement) -> Result<(), String> {
    let mark = match told {
        Statement::Asks => Some(Mark::Acquire),
        Statement::Granted { .. } => Some(Mark::Grant),
        Statement::Refused => Some(Mark::Refusal),
        Statement::Extended { .. } => Some(Mark::Extend),
        Statement::Lost => Some(Mark::Expiry),
        Statement::Releases => Some(Mark::Release),
        Statement::Released(_) | Statement::Died => None,
    };
    control.record.tell(client, lock, told)?;
    if let Some(mark) = mark {
        control.happened(Happened::Marked { client, mark });
    }
    Ok(())
}

/// The client of a connection, as it named itself.
fn client_of(control: &Control, from: Peer) -> Result<String, String> {
    let client = control.links.client(from).flatten();
    let unnamed = "this connection is nobody's: first `DOUBLEHOLD IAM c1`, or CLIENT SETNAME";
    client.map(|client| client.to_string()).ok_or_else(|| unnamed.to_owned())
}

fn read(control: &Arc<Control>, from: Peer, key: &str) -> Said {
    let read = client_of(control, from).and_then(|client| {
        let value = control.record.read(&client, key)?;
        control.happened(Happened::Marked { client: &client, mark: Mark::Read });
        Ok(value)
    });
    match read {
        Ok(Some(value)) => Said::Text(value),
        // Nobody knows here which version of RESP the client reads, and they say nothing in two ways.
        Ok(None) => Said::Text(Vec::new()),
        Err(problem) => Said::Error(problem),
    }
}

/// One verdict in a word, or all of them in a line each, with their first evidence or the reason of their doubt.
fn verdict(history: &History, asked: Option<Predicate>) -> Said {
    let verdicts = judge(history);
    if let Some(predicate) = asked {
        return Said::Word(verdicts.get(predicate).as_str());
    }
    let line = |(predicate, verdict): (Predicate, &Verdict)| {
        let why = verdict.evidence().first().map(|evidence| evidence.sentence(history.header()));
        let why = why.or_else(|| verdict.doubt().map(str::to_owned));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("{predicate} {} {}{why}", predicate.name(), verdict.as_str())
    };
    Said::Lines(verdicts.iter().map(line).collect())
}

fn history(history: &History) -> Said {
    let mut bytes = Vec::new();
    match history.write_jsonl(&mut bytes) {
        Ok(()) => Said::Text(bytes),
        Err(problem) => Said::Error(problem.to_string()),
    }
}

fn picture(history: &History) -> Said {
    let view = View::from_history(history, &judge(history));
    Said::Text(figure::svg(&view, &Options::default()).into_bytes())
}
