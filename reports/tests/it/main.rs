//! Reports and pictures of runs, and one's own lock under test.
//!
//! One binary, since each links all that a run needs.

mod catalogue;
mod causes;
mod golden;
mod own_counter;
mod own_lock;
mod own_lock_several;
mod own_outside;
mod own_weather;
mod own_world;
mod own_wrong_release;
mod property;
mod second_engine;
mod sentences;
mod story;
mod twins;
