//! The program, run as users run it, and the pages that explain its output.
//!
//! One binary, since each links all that a run needs.

mod check;
mod check_files;
mod check_green;
mod checked;
mod cli;
mod completions;
mod estimate;
mod explained;
mod explore;
mod files;
mod hints;
mod json_page;
mod kit;
mod locks;
mod readme;
mod report;
mod serve;
mod shrink;
mod spoilt;
mod stated;
mod sweep;
mod sweeps_page;
mod timeline;
mod widths;
