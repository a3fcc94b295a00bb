//! Lua 5.1's string patterns, matched with a budget.
//!
//! Lua's own matcher recurses as deep as the pattern is long and may take time exponential in it; neither can be
//! stopped by an instruction hook. This one counts steps and depth.

/// Lua's `LUA_MAXCAPTURES`.
const MAX_CAPTURES: usize = 32;
/// Deepest recursion: one level per quantifier or capture of the pattern.
const MAX_DEPTH: usize = 200;
/// Single-byte steps one search may take: some tenths of a second.
const MAX_STEPS: u64 = 50_000_000;

/// One capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    /// From, to (exclusive).
    Span(usize, usize),
    /// `()`: a position.
    Position(usize),
}

/// A match: the whole of it, and what its captures hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: usize,
    pub(super) end: usize,
    /// As Lua does, an unfinished capture is an error only where captures are asked for.
    pub(super) captures: Result<Vec<Capture>, &'static str>,
}

/// A search for the first match at or after a position.
pub(super) struct Search<'a> {
    text: &'a [u8],
    pattern: &'a [u8],
    init: usize,
    /// Whether a leading `^` anchors; to gmatch it is a byte like any other.
    anchors: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(text: &'a [u8], pattern: &'a [u8], init: usize) -> Search<'a> {
        Search { text, pattern, init, anchors: true }
    }

    /// Takes a leading `^` for a byte like any other.
    pub(super) fn without_anchor(self) -> Search<'a> {
        Search { anchors: false, ..self }
    }

    /// Searches; also says how many steps it took.
    pub(super) fn run(self) -> (Result<Option<Match>, &'static str>, u64) {
        let anchored = self.anchors && self.pattern.first() == Some(&b'^');
        let pattern = if anchored { &self.pattern[1..] } else { self.pattern };
        let mut matcher = Matcher { text: self.text, pattern, captures: Vec::new(), steps: 0, depth: 0 };
        let found = matcher.first(self.init, anchored);
        (found, matcher.steps)
    }
}

/// Whether find returns captures besides the span.
pub(super) fn has_captures(pattern: &[u8]) -> bool {
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                bytes.next();
            }
            b'(' => return true,
            _ => {}
        }
    }
    false
}

#[derive(Clone, Copy)]
struct OpenCapture {
    start: usize,
    length: CaptureLength,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CaptureLength {
    Open,
    Position,
    Closed(usize),
}

struct Matcher<'a> {
    text: &'a [u8],
    pattern: &'a [u8],
    captures: Vec<OpenCapture>,
    steps: u64,
    depth: usize,
}

type Outcome = Result<Option<usize>, &'static str>;

impl Matcher<'_> {
    fn first(&mut self, init: usize, anchored: bool) -> Result<Option<Match>, &'static str> {
        for start in init..=self.text.len() {
            self.captures.clear();
            self.depth = 0;
            if let Some(end) = self.run(start, 0)? {
                let captures = self.finished_captures(start, end);
                return Ok(Some(Match { start, end, captures }));
            }
            if anchored {
                break;
            }
        }
        Ok(None)
    }

    /// Matches the pattern from `p` at `s`; where the match ends.
    fn run(&mut self, s: usize, p: usize) -> Outcome {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("pattern too complex");
        }
        let result = self.run_here(s, p);
        self.depth -= 1;
        result
    }

    fn run_here(&mut self, mut s: usize, mut p: usize) -> Outcome {
        loop {
            self.step()?;
            match &self.pattern[p..] {
                [] => return Ok(Some(s)),
                [b'(', b')', ..] => return self.open_capture(s, p + 2, CaptureLength::Position),
                [b'(', ..] => return self.open_capture(s, p + 1, CaptureLength::Open),
                [b')', ..] => return self.close_capture(s, p + 1),
                [b'$'] => return Ok((s == self.text.len()).then_some(s)),
                [b'%', b'b', ..] => match self.match_balanced(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                [b'%', b'f', ..] => match self.frontier(s, p + 2)? {
                    Some(after) => p = after,
                    None => return Ok(None),
                },
                [b'%', digit @ b'0'..=b'9', ..] => match self.back_reference(s, *digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                _ => {
                    let after = self.item_end(p)?;
                    match self.pattern.get(after) {
                        Some(b'?') => {
                            if self.single(s, p, after)?
                                && let Some(end) = self.run(s + 1, after + 1)?
                            {
                                return Ok(Some(end));
                            }
                            p = after + 1;
                        }
                        Some(b'*') => return self.match_most(s, p, after, 0),
                        Some(b'+') => return self.match_most(s, p, after, 1),
                        Some(b'-') => return self.fewest(s, p, after),
                        _ if self.single(s, p, after)? => (s, p) = (s + 1, after),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    fn step(&mut self) -> Result<(), &'static str> {
        self.steps += 1;
        if self.steps > MAX_STEPS { Err("pattern too complex") } else { Ok(()) }
    }

    fn match_most(&mut self, s: usize, p: usize, after: usize, least: usize) -> Outcome {
        let mut count = 0;
        while self.single(s + count, p, after)? {
            count += 1;
        }
        while count >= least {
            if let Some(end) = self.run(s + count, after + 1)? {
                return Ok(Some(end));
            }
            if count == 0 {
                break;
            }
            count -= 1;
        }
        Ok(None)
    }

    fn fewest(&mut self, mut s: usize, p: usize, after: usize) -> Outcome {
        loop {
            if let Some(end) = self.run(s, after + 1)? {
                return Ok(Some(end));
            }
            if !self.single(s, p, after)? {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn open_capture(&mut self, s: usize, p: usize, length: CaptureLength) -> Outcome {
        if self.captures.len() >= MAX_CAPTURES {
            return Err("too many captures");
        }
        self.captures.push(OpenCapture { start: s, length });
        let kept = self.captures.len() - 1;
        let result = self.run(s, p)?;
        if result.is_none() {
            self.captures.truncate(kept);
        }
        Ok(result)
    }

    fn close_capture(&mut self, s: usize, p: usize) -> Outcome {
        let open = self.captures.iter().rposition(|capture| capture.length == CaptureLength::Open);
        let open = open.ok_or("invalid pattern capture")?;
        self.captures[open].length = CaptureLength::Closed(s - self.captures[open].start);
        let result = self.run(s, p)?;
        if result.is_none() {
            self.captures[open].length = CaptureLength::Open;
        }
        Ok(result)
    }

    fn match_balanced(&mut self, s: usize, p: usize) -> Outcome {
        let (Some(&opening), Some(&closing)) = (self.pattern.get(p), self.pattern.get(p + 1)) else {
            return Err("unbalanced pattern");
        };
        if self.text.get(s) != Some(&opening) {
            return Ok(None);
        }
        let mut open = 1;
        for (offset, &byte) in self.text[s + 1..].iter().enumerate() {
            self.step()?;
            if byte == closing {
                open -= 1;
                if open == 0 {
                    return Ok(Some(s + offset + 2));
                }
            } else if byte == opening {
                open += 1;
            }
        }
        Ok(None)
    }

    /// `%f[set]`: where the pattern goes on, if there is a frontier at `s`.
    fn frontier(&mut self, s: usize, p: usize) -> Outcome {
        if self.pattern.get(p) != Some(&b'[') {
            return Err("missing '[' after '%f' in pattern");
        }
        let after = self.item_end(p)?;
        let before = if s == 0 { 0 } else { self.text[s - 1] };
        let here = self.text.get(s).copied().unwrap_or(0);
        let at_frontier = !self.set_has(before, p, after - 1) && self.set_has(here, p, after - 1);
        Ok(at_frontier.then_some(after))
    }

    fn back_reference(&mut self, s: usize, digit: u8) -> Outcome {
        let index = usize::from(digit).checked_sub(usize::from(b'1')).ok_or("invalid capture index")?;
        let capture = self.captures.get(index).ok_or("invalid capture index")?;
        let CaptureLength::Closed(length) = capture.length else { return Err("invalid capture index") };
        let wanted = &self.text[capture.start..capture.start + length];
        self.steps += length as u64;
        Ok(self.text[s..].starts_with(wanted).then_some(s + length))
    }

    /// Where the single-byte item at `p` ends.
    fn item_end(&self, p: usize) -> Result<usize, &'static str> {
        match &self.pattern[p..] {
            [b'%'] => Err("malformed pattern (ends with '%')"),
            [b'%', ..] => Ok(p + 2),
            [b'[', ..] => {
                let mut at = p + 1;
                if self.pattern.get(at) == Some(&b'^') {
                    at += 1;
                }
                // The first byte of a set is a member, even if it is `]`.
                loop {
                    match self.pattern.get(at) {
                        None => return Err("malformed pattern (missing ']')"),
                        Some(b'%') => {
                            if at + 1 >= self.pattern.len() {
                                return Err("malformed pattern (missing ']')");
                            }
                            at += 2;
                        }
                        Some(_) => at += 1,
                    }
                    if self.pattern.get(at) == Some(&b']') {
                        return Ok(at + 1);
                    }
                }
            }
            _ => Ok(p + 1),
        }
    }

    fn single(&mut self, s: usize, p: usize, after: usize) -> Result<bool, &'static str> {
        self.step()?;
        let Some(&byte) = self.text.get(s) else { return Ok(false) };
        Ok(match self.pattern[p] {
            b'.' => true,
            b'%' => class_has(byte, self.pattern[p + 1]),
            b'[' => {
                self.steps += (after - p) as u64;
                self.set_has(byte, p, after - 1)
            }
            literal => literal == byte,
        })
    }

    /// Whether `byte` is in the set from the `[` at `p` to the `]` at `end`.
    fn set_has(&self, byte: u8, p: usize, end: usize) -> bool {
        let negated = self.pattern[p + 1] == b'^';
        let mut at = p + 1 + usize::from(negated);
        while at < end {
            let rest = &self.pattern[at..end];
            let (found, used) = match rest {
                [b'%', class, ..] => (class_has(byte, *class), 2),
                [from, b'-', to, ..] => ((*from..=*to).contains(&byte), 3),
                [literal, ..] => (*literal == byte, 1),
                [] => break,
            };
            if found {
                return !negated;
            }
            at += used;
        }
        negated
    }

    fn finished_captures(&self, start: usize, end: usize) -> Result<Vec<Capture>, &'static str> {
        if self.captures.is_empty() {
            return Ok(vec![Capture::Span(start, end)]);
        }
        let finish = |capture: &OpenCapture| match capture.length {
            CaptureLength::Open => Err("unfinished capture"),
            CaptureLength::Position => Ok(Capture::Position(capture.start)),
            CaptureLength::Closed(length) => Ok(Capture::Span(capture.start, capture.start + length)),
        };
        self.captures.iter().map(finish).collect()
    }
}

/// `%a` and its like, in the C locale; a capital negates.
fn class_has(byte: u8, class: u8) -> bool {
    let member = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    member != class.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(text: &[u8], pattern: &[u8]) -> Result<Option<Match>, &'static str> {
        Search::new(text, pattern, 0).run().0
    }

    #[test]
    fn a_pattern_that_would_take_for_ever_is_refused() {
        let text = vec![b'a'; 5_000];
        let pattern = [b"a-".repeat(50), b"b".to_vec()].concat();
        assert_eq!(search(&text, &pattern), Err("pattern too complex"));
    }

    #[test]
    fn a_pattern_that_would_overflow_the_stack_is_refused() {
        let text = vec![b'a'; 100_000];
        assert_eq!(search(&text, &b"a?".repeat(100_000)), Err("pattern too complex"));
    }

    #[test]
    fn an_unfinished_capture_is_an_error_not_a_panic() {
        for pattern in ["(", ")", "%", "[", "[]", "[^", "[%", "%b", "%bx", "%f", "%1", "(%1)", "[a-", "(()"] {
            // Whatever it is, it is an answer.
            let _ = search(b"a(b)c", pattern.as_bytes());
        }
        let found = search(b"a", b"(a").expect("the pattern matches").expect("it is there");
        assert_eq!(found.captures, Err("unfinished capture"));
    }
}
