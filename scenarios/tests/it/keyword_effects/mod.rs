//! The way from a scenario file to a run: every word of the format has a scenario in which it does what it says.
//!
//! The words come from the format itself (`format::vocabulary`), so that a new key, fault, step, event or value
//! without a row fails here. A row runs one small scenario twice from the same seed, without the word and with it,
//! and states what only that word can have brought about: another trace alone would prove nothing.
//!
//! | file | rows |
//! |---|---|
//! | `texts` | what is said and expected, and variants |
//! | `lock`, `timing`, `waiting`, `renewal`, `redlock`, `replicas`, `drivers` | `[lock]` |
//! | `nodes`, `supervised` | `[nodes]` |
//! | `sentinels` | `[sentinels]` |
//! | `services` | `[service]`, and the locks on other services than Redis |
//! | `network`, `clocks`, `laws`, `resource`, `limits` | the table of that name |
//! | `clients` | `[[clients]]` and the steps of a program |
//! | `stops`, `disks`, `data` | `[[faults]]` of hosts, disks, data |
//! | `service`, `skews`, `roles` | `[[faults]]` of work, clocks, and of who is master |
//! | `links`, `requests` | `[[faults]]` of links, and of what is sent over them |
//! | `when` | the words of a moment |
//! | `weather` | `[weather]` |
//!
//! Beside them: `complete` (no word without a row, no word unknown to the reader), `defaults` (what an absent key
//! means).

mod clients;
mod clocks;
mod complete;
mod data;
mod defaults;
mod disks;
mod drivers;
mod laws;
mod libraries;
mod limits;
mod links;
mod lock;
mod network;
mod nodes;
mod one_key;
mod redlock;
mod reentrant;
mod renewal;
mod replicas;
mod requests;
mod resource;
mod resource_replicas;
mod roles;
mod row;
mod seen;
mod sentinels;
mod service;
mod services;
mod skews;
mod stops;
mod supervised;
mod texts;
mod timing;
mod waiting;
mod weather;
mod when;
