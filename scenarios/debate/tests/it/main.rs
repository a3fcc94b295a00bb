//! The claims that come with the program, and what is made of them.

mod files;
mod judged;
mod selected;
