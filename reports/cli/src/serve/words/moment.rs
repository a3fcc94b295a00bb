//! Moments that served nodes know of.

use doublehold_scenarios::when::{Event, Mark, Nth, When};

use crate::serve::control::Control;

/// Refuses a moment of which nobody here would know.
///
/// # Errors
/// The event, and why it cannot be waited for.
pub(crate) fn check_moment(when: &When, control: &Control) -> Result<(), String> {
    let When::On { events, .. } = when else { return Ok(()) };
    let is_host = |name: &str| control.hosts.iter().any(|host| host.name == name);
    for Nth { event, .. } in events {
        let node = match event {
            Event::ClockRead { .. } | Event::Timer { .. } => {
                return Err(format!(
                    "`{event}` needs a simulated client: wait for a command, a message or a word"
                ));
            }
            Event::Executed { node, .. } => node.as_deref(),
            Event::Boot { host } => Some(host.as_str()),
            Event::Sent { from, .. } | Event::Received { from, .. } if is_host(from) => {
                return Err(format!(
                    "`{event}`: what {from} sends is not looked at, only what clients send to nodes"
                ));
            }
            Event::Sent { to, .. } | Event::Received { by: to, .. } => Some(to.as_str()),
            Event::Mark { mark: mark @ (Mark::Check | Mark::Extending), .. } => {
                return Err(format!(
                    "nobody tells of `{}`: wait for acquire, grant, refusal, read, write, extend, release or expiry",
                    mark.as_str()
                ));
            }
            Event::Mark { .. } => None,
        };
        if let Some(node) = node.filter(|node| !is_host(node)) {
            return Err(format!("`{event}`: no node `{node}`"));
        }
    }
    Ok(())
}
