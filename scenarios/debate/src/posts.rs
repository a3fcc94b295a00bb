//! The posts that everybody quotes, paragraph by paragraph: which claims each paragraph makes.
//!
//! Paragraphs are told in our words. What came of their claims is said by the runs.

use serde::Deserialize;

use crate::claims::BadClaims;

/// A post.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Post {
    /// Its author and title.
    pub title: String,
    /// Its address.
    pub link: String,
    /// Its paragraphs, in order, as far as they claim something that can be run.
    pub parts: Vec<Paragraph>,
}

/// A paragraph, or some of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paragraph {
    /// Its contents, in our words.
    pub says: String,
    /// The numbers of its claims.
    pub claims: Vec<String>,
    /// The conclusion that a reader should take from the runs.
    pub so: String,
}

/// A file.
#[derive(Deserialize)]
struct File {
    posts: Vec<Post>,
}

/// The posts, in the order in which they were written.
///
/// # Errors
///
/// If their file is wrong, which only a change to the program can bring about.
pub fn posts() -> Result<Vec<Post>, BadClaims> {
    let file: Result<File, _> = toml::from_str(include_str!("../posts.toml"));
    file.map(|file| file.posts).map_err(|error| BadClaims { topic: "posts", cause: error.to_string() })
}
