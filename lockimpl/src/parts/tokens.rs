//! What a lock writes into its key, and for how long that is the same.
//!
//! A token is to tell one request from every other. One that lasts longer, or that two may draw, makes two owners of
//! what belongs to one.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::config::{Choice, Form};
use crate::env::Env;
use crate::lock::Token;

/// Whether a retry is a new owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenScope {
    /// One token for all attempts of a call, as the reference implementation and most libraries. A
    /// request of an earlier attempt that arrives late counts for the later one, or against it.
    #[default]
    Call,
    /// A new token for each attempt.
    Attempt,
    /// One token for as long as the lock object lives, as redis-semaphore: a release that is late, of a grant long
    /// given back, deletes the key of the next grant.
    Object,
}

impl Choice for TokenScope {
    const WORDS: &'static [(&'static str, Self)] =
        &[("call", Self::Call), ("attempt", Self::Attempt), ("object", Self::Object)];
}

impl TokenScope {
    /// Asks for the switch.
    pub(crate) fn choose(form: &mut Form<'_>) -> Self {
        form.choice(
            "token",
            Self::default(),
            "what has a token of its own: a call, each attempt of it, or the lock object",
        )
    }
}

/// What a token is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenSource {
    /// 20 random bytes, as published.
    #[default]
    Random,
    /// Random bytes that are drawn once for all threads and lock objects of a process, as the client id of a registry:
    /// any of them gives back what another holds.
    Process,
    /// The microseconds of the client's wall clock, and a name that the lock object drew. A clock that stands still, or
    /// is set back, gives two requests one token.
    Timestamp,
    /// A number below 256: two clients draw the same one sooner or later.
    SmallInt,
}

impl Choice for TokenSource {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("random", Self::Random),
        ("process", Self::Process),
        ("timestamp", Self::Timestamp),
        ("small-int", Self::SmallInt),
    ];
}

/// The tokens of a lock object whose every resource has one for good.
#[derive(Clone, Default)]
pub(crate) struct ObjectTokens(BTreeMap<String, Token>);

impl ObjectTokens {
    /// The token of a resource. Keys that hold it are the call's under way.
    pub(crate) fn get_or_draw<E: Env>(&mut self, env: &E, resource: &str) -> Token {
        if let Some(token) = self.0.get(resource) {
            env.marks(token.as_bytes());
            return token.clone();
        }
        let token = Token::draw(env);
        self.0.insert(resource.to_owned(), token.clone());
        token
    }
}

/// What all lock objects of a process share.
#[derive(Default)]
struct ProcessToken(OnceLock<Token>);

/// The tokens of one lock object.
pub(crate) struct Tokens<E: Env> {
    scope: TokenScope,
    source: TokenSource,
    objects: ObjectTokens,
    /// The token of the call under way.
    call: Option<Token>,
    /// What it adds to the time.
    name: Option<u64>,
    process: Option<Arc<ProcessToken>>,
    env: E,
}

impl<E: Env> Tokens<E> {
    pub(crate) fn new(env: &E, scope: TokenScope, source: TokenSource) -> Self {
        let process = (source == TokenSource::Process).then(|| env.process_state::<ProcessToken>());
        Self {
            scope,
            source,
            objects: ObjectTokens::default(),
            call: None,
            name: None,
            process,
            env: env.clone(),
        }
    }

    /// The token of a call's attempt.
    pub(crate) async fn next(&mut self, resource: &str, first: bool) -> Token {
        match self.source {
            TokenSource::Random => self.random(resource, first),
            TokenSource::Process => {
                let drawn = || Token::draw(&self.env);
                let token = self.process.as_ref().map_or_else(drawn, |one| one.0.get_or_init(drawn).clone());
                self.mark(token)
            }
            TokenSource::Timestamp => {
                let micros = self.env.wall().await.0.div_euclid(1_000);
                let name = *self.name.get_or_insert_with(|| random(&self.env));
                self.mark(Token::new(format!("{micros}:{name:016x}")))
            }
            TokenSource::SmallInt => {
                let number = random(&self.env) & 0xff;
                self.mark(Token::new(number.to_string()))
            }
        }
    }

    fn random(&mut self, resource: &str, first: bool) -> Token {
        match self.scope {
            TokenScope::Attempt => Token::draw(&self.env),
            TokenScope::Call => match self.call.take().filter(|_| !first) {
                Some(token) => self.call.insert(token).clone(),
                None => self.call.insert(Token::draw(&self.env)).clone(),
            },
            TokenScope::Object => self.objects.get_or_draw(&self.env, resource),
        }
    }

    /// Says that keys that hold it are the call's under way.
    fn mark(&self, token: Token) -> Token {
        self.env.marks(token.as_bytes());
        token
    }
}

fn random<E: Env>(env: &E) -> u64 {
    let mut bytes = [0; 8];
    env.random(&mut bytes);
    u64::from_le_bytes(bytes)
}
