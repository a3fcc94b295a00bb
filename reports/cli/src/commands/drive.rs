//! `doublehold drive`: a test of one's own lock, in any language, under the built-in tries.

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use doublehold_history::{EventKind, History, Predicate, Verdict, Verdicts, judge};
use doublehold_render::picture::view::View;
use doublehold_render::text;
use doublehold_text::{exact_duration, suggest};

use super::timeline::TimelineFile;
use crate::drive::child::Ended;
use crate::drive::stage::{Seen, Stage};
use crate::drive::tries::{Calm, Try};
use crate::error::CliError;
use crate::exit::Exit;
use crate::output;
use crate::output_options::StyleOptions;
use crate::serve::layout::{Layout, Nodes};
use crate::serve::options::{Options, limits};

/// The time that the command may take in calm.
const LIMIT: Duration = Duration::from_secs(60);

/// Under a try it may take so many times as long, and as long as a client waits in vain.
const SLOWER: u32 = 10;
const WAITS: Duration = Duration::from_secs(10);

/// A hold below this gives others little chance to get the lock, too.
const SHORT_HOLD: Duration = Duration::from_millis(500);

/// Where ports are looked for, and how far apart.
const FIRST_PORTS: std::ops::Range<u16> = 7000..60_000;
const NEXT_PORTS: usize = 100;

/// As typed.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many nodes the command is given
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=26))]
    nodes: u16,
    /// The first node's port [default: the first from 7000 on that is free with those after it]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Kill a run of the command that takes longer [default: 1m in calm, then ten times what that took
    /// and 10s]
    #[arg(long, value_name = "DURATION", value_parser = doublehold_scenarios::format::duration)]
    limit: Option<Duration>,
    /// Only tries whose names have this in them
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Draw the first try that breaks a rule to FILE: .svg, .png, or .html to zoom in
    #[arg(long, value_name = "FILE")]
    timeline: Option<String>,
    #[command(flatten)]
    show: StyleOptions,
    /// The command: takes a lock with two clients or more, and tells of it by `DOUBLEHOLD` (see `serve --faults`). It
    /// finds the nodes by REDIS_URL, DOUBLEHOLD_PORTS and DOUBLEHOLD_CONTROL_PORT
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

pub(crate) fn execute(arguments: &Arguments) -> Result<Exit, CliError> {
    let timeline = arguments.timeline.as_deref().map(TimelineFile::open).transpose()?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
    let driven = runtime.block_on(drive(arguments))?;
    let Some((history, verdicts)) = driven.breaks else {
        return Ok(if driven.open == 0 { Exit::AsExpected } else { Exit::Inconclusive });
    };
    output::print(&format!(
        "\nthe first that breaks:\n\n{}",
        text::history(&history, &verdicts, &[], &arguments.show.style())
    ))?;
    if let Some(timeline) = timeline {
        timeline.write_view(&View::from_history(&history, &verdicts))?.keep()?;
    }
    Ok(Exit::Contradicted)
}

/// What driving came to.
struct Driven {
    /// The first record in which a rule was broken.
    breaks: Option<(History, Verdicts)>,
    /// The number of runs that broke one.
    broken: usize,
    /// The number of runs that decided nothing.
    open: usize,
}

async fn drive(arguments: &Arguments) -> Result<Driven, CliError> {
    let stage = Stage::set_up(options(arguments)?, arguments.command.clone()).await?;
    let calm = stage.run(None, arguments.limit.unwrap_or(LIMIT)).await?;
    check_calm(&calm, arguments.limit.unwrap_or(LIMIT))?;
    let limit = arguments.limit.unwrap_or(calm.time * SLOWER + WAITS);
    let nodes = stage.nodes();
    check_nodes(&calm, &nodes)?;
    let seen = Calm { histories: &calm.histories, requests: &calm.requests, nodes: &nodes, time: calm.time };
    let (tries, hold) = (wanted(arguments, seen.tries())?, seen.longest_hold());
    let mut driven = Driven { breaks: None, broken: 0, open: 0 };
    let width = tries.iter().map(|it| it.name.chars().count()).max().unwrap_or(0).max("calm".len());
    output::print(&format!("{:width$}  {}  seconds\n", "try", heading()))?;
    note("calm", width, calm, &mut driven)?;
    if driven.breaks.is_some() {
        output::print(
            "    This needs no fault, or the command strikes one by itself: nothing else was tried.\n",
        )?;
        return Ok(driven);
    }
    // Only tries are counted.
    driven.open = 0;
    if hold < SHORT_HOLD {
        output::print(&format!(
            "    Nobody held the lock for longer than {}: a fault at a grant shows only if others ask before its end.\n",
            exact_duration(hold)
        ))?;
    }
    let count = tries.len();
    for tried in tries {
        let mut seen = stage.run(Some(&tried), limit).await?;
        if !seen.has_struck() {
            // Clients that block each other may get what the try waits for another time.
            seen = stage.run(Some(&tried), limit).await?;
        }
        if note(&tried.name, width, seen, &mut driven)? {
            let words = tried.words.iter().map(|word| format!("    DOUBLEHOLD {word}\n"));
            output::print(&words.collect::<String>())?;
        }
    }
    let Driven { broken, open, .. } = driven;
    output::print(&format!("{count} tries: {broken} broke a rule, and {open} show nothing\n"))?;
    Ok(driven)
}

/// The tries that were asked for.
fn wanted(arguments: &Arguments, tries: Vec<Try>) -> Result<Vec<Try>, CliError> {
    let Some(text) = &arguments.only else { return Ok(tries) };
    let (wanted, others): (Vec<_>, Vec<_>) = tries.into_iter().partition(|it| it.name.contains(text));
    if wanted.is_empty() {
        let names: Vec<String> = others.into_iter().map(|it| format!("\n  {}", it.name)).collect();
        return Err(CliError::Usage {
            problem: format!("no try has `{text}` in its name"),
            hint: format!("name a part of one of these:{}", names.concat()),
        });
    }
    Ok(wanted)
}

fn heading() -> String {
    SHOWN.map(|predicate| format!("{:12}", predicate.as_str())).join("  ")
}

/// The verdicts of the table: liveness has no bound here.
const SHOWN: [Predicate; 5] = [Predicate::P1, Predicate::P2, Predicate::P3, Predicate::P4, Predicate::WR];

/// A row of the table; whether a record broke a rule, of which the first is kept.
fn note(name: &str, width: usize, seen: Seen, driven: &mut Driven) -> Result<bool, CliError> {
    let judged: Vec<(History, Verdicts)> =
        seen.histories.into_iter().map(|it| (it.clone(), judge(&it))).collect();
    let worst = |predicate| {
        judged.iter().map(|(_, verdicts)| verdicts.get(predicate)).max_by_key(|verdict| badness(verdict))
    };
    let cell = |predicate| format!("{:12}", worst(predicate).map_or("", Verdict::as_str));
    let cells = SHOWN.map(cell).join("  ");
    let how = match seen.ended {
        Ended::Itself { is_success: true } => "",
        Ended::Itself { is_success: false } => ", and the command failed",
        Ended::TooLate => ", then it was killed",
    };
    output::print(&format!("{name:width$}  {cells}  {:.1}{how}\n", seen.time.as_secs_f64()))?;
    let doubt = worst(Predicate::P1).and_then(Verdict::doubt);
    let complaint = seen.complaint.filter(|_| !how.is_empty() || doubt.is_some());
    driven.open += usize::from(doubt.is_some());
    for line in complaint.as_deref().into_iter().chain(doubt) {
        output::print(&format!("    {line}\n"))?;
    }
    let is_broken = |(_, verdicts): &(History, Verdicts)| {
        SHOWN.iter().any(|predicate| !verdicts.get(*predicate).evidence().is_empty())
    };
    let broken = judged.into_iter().find(is_broken);
    let breaks = broken.is_some();
    driven.broken += usize::from(breaks);
    if driven.breaks.is_none() {
        driven.breaks = broken;
    }
    Ok(breaks)
}

/// Of the records of one command, the worst verdict counts.
fn badness(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Violated(_) => 2,
        Verdict::Inconclusive(_) | Verdict::NotSeen(_) => 1,
        Verdict::Holds => 0,
    }
}

/// Refuses a command that does not use all nodes: of a fault of the others it shows nothing.
fn check_nodes(calm: &Seen, nodes: &[String]) -> Result<(), CliError> {
    let is_used = |node: &&String| calm.requests.iter().any(|request| request.node == **node);
    let unused: Vec<&str> = nodes.iter().filter(|node| !is_used(node)).map(String::as_str).collect();
    if unused.is_empty() {
        return Ok(());
    }
    Err(CliError::Usage {
        problem: format!("no named connection sent {} anything in calm", suggest::list(&unused)),
        hint: "use all ports in DOUBLEHOLD_PORTS, which commas separate; name each connection after its client; for one \
               node leave `--nodes` out"
            .to_owned(),
    })
}

/// Refuses a command that shows nothing in calm: no try would show more.
fn check_calm(calm: &Seen, limit: Duration) -> Result<(), CliError> {
    let refused = |problem: String, hint: &str| Err(CliError::Usage { problem, hint: hint.to_owned() });
    let is_granted = |history: &History| {
        history.events().iter().any(|event| matches!(event.what, EventKind::Granted { .. }))
    };
    let nobody_told = calm.histories.iter().all(|history| history.header().clients.is_empty());
    match calm.ended {
        Ended::TooLate => refused(
            format!("the command did not end in {} in calm", exact_duration(limit)),
            "give it more time by `--limit`, or let it end after some turns",
        ),
        Ended::Itself { is_success: false } => refused(
            "the command failed in calm".to_owned(),
            "run it against `doublehold serve --faults` first",
        ),
        Ended::Itself { is_success: true } if nobody_told => refused(
            "the command told nothing of its lock".to_owned(),
            "let each client send `DOUBLEHOLD ASKS c1` before it asks, GRANTED, and RELEASES, to DOUBLEHOLD_CONTROL_PORT",
        ),
        Ended::Itself { .. } if !calm.histories.iter().any(is_granted) => refused(
            "nobody was granted the lock in calm".to_owned(),
            "let the command fail where a lock cannot be had, and look why",
        ),
        Ended::Itself { .. } => Ok(()),
    }
}

fn options(arguments: &Arguments) -> Result<Options, CliError> {
    let port = match arguments.port {
        Some(port) => port,
        None => free_ports(arguments.nodes + 1)?,
    };
    Ok(Options {
        layout: Layout { port, nodes: Nodes::Apart(arguments.nodes), sentinels: None, faults: true },
        listen: Ipv4Addr::LOCALHOST.into(),
        limits: limits(),
        scenario: None,
        version: doublehold_sim_redis::core::Version::default(),
        persistence: doublehold_sim_redis::Persistence::None,
        remote_masters: false,
        config_dir: None::<PathBuf>,
    })
}

fn free_ports(count: u16) -> Result<u16, CliError> {
    let is_free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
    let mut firsts = FIRST_PORTS.step_by(NEXT_PORTS);
    firsts.find(|&first| (first..first + count).all(is_free)).ok_or_else(|| CliError::Usage {
        problem: format!("no {count} ports in a row are free"),
        hint: "name the first by `--port`".to_owned(),
    })
}
