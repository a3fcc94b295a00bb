//! The input of a renderer: a run's report, and the causes of its first violation if somebody asked for them.

use doublehold_diagnosis::{Causes, Explained};
use doublehold_scenarios::report::Report;

/// A run that is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct ShownRun<'a> {
    /// The run.
    pub report: &'a Report,
    /// The causes of its first violation, if they are known.
    pub causes: Option<&'a Causes>,
}

impl<'a> From<&'a Report> for ShownRun<'a> {
    fn from(report: &'a Report) -> ShownRun<'a> {
        ShownRun { report, causes: None }
    }
}

impl<'a> From<&'a Explained> for ShownRun<'a> {
    fn from(run: &'a Explained) -> ShownRun<'a> {
        ShownRun { report: &run.report, causes: run.causes.as_ref() }
    }
}
