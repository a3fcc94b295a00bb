//! Studies, and the sweeps of them.
//!
//! One binary, since each links all that a run needs.

mod closed_forms;
mod new_study;
mod records;
mod reweigh;
mod shards;
mod strata;
mod studies_page;
mod study;
mod study_combinations;
mod study_files;
