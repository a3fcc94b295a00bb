//! The served nodes under a driven command: each try begins with everything as it was at first.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use doublehold_history::History;
use tokio::sync::oneshot;

use super::child::{self, Ended};
use super::tries::Try;
use crate::error::CliError;
use crate::serve::control::{Control, Request};
use crate::serve::layout::Layout;
use crate::serve::options::Options;
use crate::serve::serve;
use crate::serve::signals::Signals;

/// Served nodes, and the command that is driven.
pub(crate) struct Stage {
    control: Arc<Control>,
    variables: Vec<(&'static str, String)>,
    command: Vec<OsString>,
    at_most: Duration,
}

/// What a run came to.
pub(crate) struct Seen {
    pub(crate) history: History,
    pub(crate) requests: Vec<Request>,
    pub(crate) ended: Ended,
    pub(crate) time: Duration,
}

impl Stage {
    /// Serves nodes until the program ends.
    ///
    /// # Errors
    /// When a port is taken, or the system has no room for servers.
    pub(crate) async fn set_up(
        options: Options,
        command: Vec<OsString>,
        at_most: Duration,
    ) -> Result<Stage, CliError> {
        let variables = variables(&options.layout);
        let (tell, told) = oneshot::channel();
        let serving = serve(options, Signals::never(), move |control| {
            // Whoever set up the stage waits for it.
            let _ = tell.send(control.cloned());
        });
        let serving = tokio::spawn(serving);
        match told.await {
            Ok(Some(control)) => Ok(Stage { control, variables, command, at_most }),
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

    /// Runs the command once, under a try if there is one.
    pub(crate) async fn run(&self, tried: Option<&Try>) -> Result<Seen, CliError> {
        let failed = |problem: String| CliError::Runtime(std::io::Error::other(problem));
        self.control.reset().await.map_err(failed)?;
        self.control.requests.begin();
        for word in tried.iter().flat_map(|tried| &tried.words) {
            crate::serve::words::type_word(&self.control, word).await.map_err(failed)?;
        }
        let began = Instant::now();
        // Under a fault, complaints are what is expected.
        let stderr = if tried.is_some() { Stdio::null() } else { Stdio::inherit() };
        let ended = child::run(&self.command, &self.variables, self.at_most, stderr).await;
        let ended = ended.map_err(CliError::Runtime)?;
        Ok(Seen {
            history: self.control.history(),
            requests: self.control.requests.take(),
            ended,
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
