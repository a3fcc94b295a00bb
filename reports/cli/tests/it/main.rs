//! The program, run as users run it, and the pages that explain its output.
//!
//! One binary, since each links all that a run needs.

mod beside;
mod check;
mod check_files;
mod check_green;
mod check_parts;
mod check_refused;
mod checked;
mod cli;
mod commands_page;
mod completions;
mod debated;
mod driven;
mod engines;
mod estimate;
mod explained;
mod explore;
mod files;
mod hints;
mod json_page;
mod judged;
mod kit;
mod listed;
mod locks;
mod readme;
mod refused;
mod report;
mod serve;
mod serve_doubts;
mod serve_faults;
mod serve_record;
mod serve_scenario;
mod serve_sentinels;
mod served_catalog;
mod shrink;
mod spoilt;
mod stated;
mod studies;
mod study_refused;
mod sweep;
mod sweeps_page;
mod timeline;
mod white_box;
mod widths;
mod written;
