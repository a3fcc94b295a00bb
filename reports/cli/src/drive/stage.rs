//! The served nodes under a driven command: each try begins with everything as it was at first.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use doublehold_history::{Event, EventKind, History};
use tokio::sync::oneshot;

use super::child::{self, Ended};
use super::tries::Try;
use crate::error::CliError;
use crate::serve::control::{Control, NOT_STRUCK, Request};
use crate::serve::layout::Layout;
use crate::serve::options::Options;
use crate::serve::serve;
use crate::serve::signals::Signals;

/// Served nodes, and the command that is driven.
pub(crate) struct Stage {
    control: Arc<Control>,
    variables: Vec<(&'static str, String)>,
    command: Vec<OsString>,
}

/// What a run came to.
pub(crate) struct Seen {
    /// One for each RESET of the command, and at least one.
    pub(crate) histories: Vec<History>,
    pub(crate) requests: Vec<Request>,
    pub(crate) ended: Ended,
    /// The last line that the command complained, if it was to be kept.
    pub(crate) complaint: Option<String>,
    pub(crate) time: Duration,
}

impl Seen {
    /// True if the try has struck in each record.
    pub(crate) fn has_struck(&self) -> bool {
        let waits = |event: &Event| match &event.what {
            EventKind::Inconclusive { why } => why.contains(NOT_STRUCK),
            _ => false,
        };
        !self.histories.iter().flat_map(History::events).any(waits)
    }
}

impl Stage {
    /// Serves nodes until the program ends.
    ///
    /// # Errors
    /// When a port is taken, or the system has no room for servers.
    pub(crate) async fn set_up(options: Options, command: Vec<OsString>) -> Result<Stage, CliError> {
        let variables = variables(&options.layout);
        let (tell, told) = oneshot::channel();
        let serving = serve(options, Signals::never(), move |control| {
            // Whoever set up the stage waits for it.
            let _ = tell.send(control.cloned());
        });
        let serving = tokio::spawn(serving);
        match told.await {
            Ok(Some(control)) => Ok(Stage { control, variables, command }),
            _ => match serving.await {
                Ok(Err(problem)) => Err(problem.into()),
                _ => Err(CliError::Runtime(std::io::Error::other("the servers have ended"))),
            },
        }
    }

    /// The names of the nodes.
    pub(crate) fn nodes(&self) -> Vec<String> {
        self.control.node_names()
    }

    /// Runs the command once, under a try if there is one, for so long at most. The try strikes anew after each RESET
    /// of the command.
    pub(crate) async fn run(&self, tried: Option<&Try>, at_most: Duration) -> Result<Seen, CliError> {
        let failed = |problem: String| CliError::Runtime(std::io::Error::other(problem));
        self.control.strike_always(tried.map(|tried| tried.words.clone()).unwrap_or_default());
        let name = tried.map_or("calm", |tried| &tried.name);
        self.control.reset(Some(name.to_owned())).await.map_err(failed)?;
        self.control.forget_ended();
        self.control.requests.begin();
        let began = Instant::now();
        // Under a fault, complaints are what is expected: one is enough.
        let stderr = if tried.is_some() { Stdio::piped() } else { Stdio::inherit() };
        let ended = child::run(&self.command, &self.variables, at_most, stderr).await;
        let (ended, complaint) = ended.map_err(CliError::Runtime)?;
        Ok(Seen {
            histories: self.control.records(self.control.missing()),
            requests: self.control.requests.take(),
            ended,
            complaint,
            time: began.elapsed(),
        })
    }
}

/// What the command is told, as variables of its environment.
fn variables(layout: &Layout) -> Vec<(&'static str, String)> {
    let ports: Vec<String> = (0..layout.nodes()).map(|index| layout.port_of(index).to_string()).collect();
    let control = layout.control_port().unwrap_or_default();
    vec![
        ("REDIS_URL", format!("redis://{}:{}", Ipv4Addr::LOCALHOST, layout.port)),
        ("DOUBLEHOLD_PORT", layout.port.to_string()),
        ("DOUBLEHOLD_PORTS", ports.join(",")),
        ("DOUBLEHOLD_CONTROL_PORT", control.to_string()),
    ]
}
