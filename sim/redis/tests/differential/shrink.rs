//! Makes a script that shows a difference shorter while it still shows one: first steps, then arguments, then bytes.

use super::run::{Difference, Outcome, Pair};
use super::script::{Bytes, Step};

/// How many shorter scripts are tried. Reaching it costs beauty, nothing else.
const TRIES: usize = 1_500;

/// The shortest script found, and its difference.
pub(crate) fn shrink(pair: &mut Pair, script: &[Step], difference: Difference) -> (Vec<Step>, Difference) {
    let mut best = Best { pair, script: script[..=difference.at].to_vec(), difference, tries: 0 };
    loop {
        let before = best.script.clone();
        best.drop_steps();
        best.use_one_connection();
        // In pairs first: options come with their values.
        best.drop_arguments(2);
        best.drop_arguments(1);
        best.shorten_arguments();
        if best.script == before || best.tries >= TRIES {
            return (best.script, best.difference);
        }
    }
}

struct Best<'a> {
    pair: &'a mut Pair,
    script: Vec<Step>,
    difference: Difference,
    tries: usize,
}

impl Best<'_> {
    /// Keeps `candidate` if it shows a difference at the same command, twice.
    fn try_instead(&mut self, candidate: Vec<Step>) -> bool {
        if self.tries >= TRIES || candidate.is_empty() {
            return false;
        }
        self.tries += 1;
        let Outcome::Different(first) = self.pair.run(&candidate) else { return false };
        let same_command = name(&candidate[first.at]) == name(&self.script[self.difference.at]);
        if !same_command || !matches!(self.pair.run(&candidate), Outcome::Different(_)) {
            return false;
        }
        self.script = candidate[..=first.at].to_vec();
        self.difference = first;
        true
    }

    fn drop_steps(&mut self) {
        let mut size = self.script.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < self.script.len() {
                let end = (at + size).min(self.script.len());
                let candidate = [&self.script[..at], &self.script[end..]].concat();
                if !self.try_instead(candidate) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    fn use_one_connection(&mut self) {
        let mut candidate = self.script.clone();
        for step in &mut candidate {
            match step {
                Step::Send { connection, .. }
                | Step::Round { connection, .. }
                | Step::Raw { connection, .. } => *connection = 0,
            }
        }
        self.try_instead(candidate);
    }

    fn drop_arguments(&mut self, count: usize) {
        for step in 0..self.script.len() {
            let mut at = 1;
            loop {
                let cut = |parts: &mut Vec<Bytes>| {
                    (at + count <= parts.len()).then(|| drop(parts.drain(at..at + count)))
                };
                let Some(candidate) = self.with_parts(step, cut) else { break };
                if !self.try_instead(candidate) {
                    at += 1;
                }
            }
        }
    }

    fn shorten_arguments(&mut self) {
        for step in 0..self.script.len() {
            let mut part = 0;
            while let Some(bytes) = self.script.get(step).and_then(|step| parts(step).get(part)) {
                // A command's name stays; and a shorter number might be a lifetime that ends while the script runs.
                let is_name = part == 0 && !matches!(self.script[step], Step::Raw { .. });
                if !is_name && !bytes.iter().all(u8::is_ascii_digit) {
                    self.shorten(step, part, bytes.len());
                }
                part += 1;
            }
        }
    }

    fn shorten(&mut self, step: usize, part: usize, length: usize) {
        let mut size = length.div_ceil(2);
        while size > 0 {
            let mut at = 0;
            loop {
                let cut = |parts: &mut Vec<Bytes>| {
                    let bytes = parts.get_mut(part)?;
                    let end = (at + size).min(bytes.len());
                    (at < end).then(|| drop(bytes.drain(at..end)))
                };
                let Some(candidate) = self.with_parts(step, cut) else { break };
                if !self.try_instead(candidate) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// The script with one step's arguments changed; `None` if `change` finds nothing to change.
    fn with_parts(&self, step: usize, change: impl Fn(&mut Vec<Bytes>) -> Option<()>) -> Option<Vec<Step>> {
        let mut candidate = self.script.clone();
        let untouchable = ["SHUTDOWN", "WAIT"].map(|name| Some(name.as_bytes().to_vec()));
        if untouchable.contains(&name(candidate.get(step)?)) {
            // With other arguments they might succeed: end the server, or block for ever.
            return None;
        }
        change(match candidate.get_mut(step)? {
            Step::Send { args, .. } | Step::Round { args, .. } => args,
            Step::Raw { pieces, .. } => pieces,
        })?;
        Some(candidate)
    }
}

fn parts(step: &Step) -> &[Bytes] {
    match step {
        Step::Send { args, .. } | Step::Round { args, .. } => args,
        Step::Raw { pieces, .. } => pieces,
    }
}

fn name(step: &Step) -> Option<Bytes> {
    match step {
        Step::Send { args, .. } | Step::Round { args, .. } => Some(args.first()?.to_ascii_uppercase()),
        Step::Raw { .. } => None,
    }
}
