//! One node and plain commands: what the locks share that came before `SET … NX PX` and scripts.
//!
//! They have no switches. What articles leave out is as in the lock on one node: a command may take 1 s, and a reply
//! that was lost is a doubt.

use std::time::Duration;

use redis::{Cmd, Pipeline, Value};

use super::link::{Failure, Link, OnTimeout};
use super::request::{ReleaseMethod, Request, says_yes};
use super::units::seconds;
use crate::config::{Facts, Sends, Unfit};
use crate::env::{Env, NodeName};
use crate::lock::{Grant, Released};

/// How long one command may take.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A client's machine, and its way to the node.
pub(crate) struct PlainNode<E: Env> {
    pub(crate) env: E,
    link: Link<E>,
}

impl<E: Env> PlainNode<E> {
    pub(crate) fn new(env: E, node: NodeName) -> Self {
        Self { env, link: Link::new(node, Some(TIMEOUT), OnTimeout::Reconnect) }
    }

    /// Sends one command.
    pub(crate) async fn call(&mut self, command: &Cmd) -> Result<Value, Failure> {
        self.link.call(&self.env, command).await
    }

    /// Sends several commands at once.
    pub(crate) async fn pipeline(&mut self, commands: &Pipeline) -> Result<Vec<Value>, Failure> {
        self.link.pipeline(&self.env, commands).await
    }

    /// Deletes the key, by `DEL` whoever it belongs to or by the release script.
    pub(crate) async fn release(&mut self, grant: &Grant, method: ReleaseMethod) -> Released {
        let request = Request::Release { key: &grant.resource, token: &grant.token, method };
        match self.link.ask(&self.env, &request).await {
            Ok(reply) if says_yes(&reply) => Released::Released,
            Ok(_) => Released::NotOwner,
            Err(failure) => Released::Unknown(failure.into_doubt()),
        }
    }
}

/// What is known of a lock that sends these commands, and can do no more than be taken and given back.
pub(crate) fn facts(commands: &[&'static str]) -> Facts {
    let sends = Sends { to_hold: commands.to_vec(), to_extend: Vec::new() };
    Facts {
        sends: Some(sends),
        extends: false,
        deadline: false,
        fencing: false,
        waits: false,
        renews: false,
        readmits: false,
    }
}

/// Why a lock whose command counts whole seconds cannot give a lease of `ttl`, if it cannot.
pub(crate) fn unfit(command: &str, ttl: Duration) -> Option<Unfit> {
    let ttl_s = seconds(ttl);
    (ttl.subsec_nanos() > 0).then(|| Unfit {
        cause: format!("`{command}` counts whole seconds, and the ttl is {ttl:?}"),
        hint: format!("use whole seconds, such as \"{ttl_s}s\""),
    })
}
