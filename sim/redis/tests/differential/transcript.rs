//! Conversations with a Redis server as text: `tests/transcripts/*.txt`.
//!
//! ```text
//! == a scene, which starts on an empty server
//! a> SET k v NX
//! < +OK
//! pause 5ms
//! b raw> "*1\r\n$x\r\n"
//! < -ERR Protocol error: invalid bulk length
//! closed
//! a round> SCAN 0 MATCH k*
//! ```
//!
//! `a`, `b` and `c` are connections; `<` lines are the reply's bytes up to each line break; `#` lines are comments. A
//! round is SCAN or one of its like until its cursor is 0 again, and its reply everything that came, sorted.

use std::time::Duration;

use super::client::{Answer, End};
use super::script::{Bytes, Step, escaped, split_args, unescaped};

/// A scene: what is sent, and what a server answered to each.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    /// What it shows.
    pub(crate) title: String,
    /// Comments before its first step.
    pub(crate) comments: Vec<String>,
    /// Steps, their answers, and the line of the file each begins in.
    pub(crate) steps: Vec<(Step, Answer, usize)>,
}

/// Reads a file's scenes; its own comments come first, before any scene.
///
/// # Errors
/// The line that is no part of a transcript.
pub(crate) fn parse(text: &str) -> Result<(Vec<String>, Vec<Scene>), String> {
    let (mut header, mut scenes) = (Vec::new(), Vec::<Scene>::new());
    for (number, line) in (1..).zip(text.lines()) {
        let wrong = |why: &str| format!("line {number}: {why}: `{line}`");
        if let Some(title) = line.strip_prefix("== ") {
            scenes.push(Scene { title: title.to_owned(), ..Scene::default() });
        } else if line.starts_with('#') {
            scenes.last_mut().map_or(&mut header, |scene| &mut scene.comments).push(line.to_owned());
        } else if !line.is_empty() {
            let scene = scenes.last_mut().ok_or_else(|| wrong("a scene begins with `== its title`"))?;
            parse_line(scene, line, number).map_err(|why| wrong(&why))?;
        }
    }
    Ok((header, scenes))
}

fn parse_line(scene: &mut Scene, line: &str, number: usize) -> Result<(), String> {
    let no_step = || "there is no step before it".to_owned();
    if let Some(reply) = line.strip_prefix('<') {
        let (_, answer, _) = scene.steps.last_mut().ok_or_else(no_step)?;
        answer.bytes.extend(unescaped(reply.strip_prefix(' ').unwrap_or(reply))?);
        answer.bytes.extend_from_slice(b"\r\n");
    } else if line == "closed" {
        scene.steps.last_mut().ok_or_else(no_step)?.1.end = End::Closed;
    } else if let Some(ms) = line.strip_prefix("pause ") {
        let ms: u64 = ms.trim_end_matches("ms").parse().map_err(|_| "a pause is `pause 5ms`".to_owned())?;
        match &mut scene.steps.last_mut().ok_or_else(no_step)?.0 {
            Step::Send { pause, .. } => *pause = Duration::from_millis(ms),
            Step::Round { .. } => return Err("no pause follows a round".to_owned()),
            Step::Raw { .. } => return Err("nothing follows `raw` on its connection".to_owned()),
        }
    } else {
        let unknown = || "no line of a transcript".to_owned();
        let (who, rest) = line.split_once("> ").ok_or_else(unknown)?;
        let (name, kind) = who.split_once(' ').unwrap_or((who, ""));
        let connection = ["a", "b", "c"].iter().position(|known| *known == name).ok_or_else(unknown)?;
        let args = split_args(rest)?;
        let step = match kind {
            "" => Step::send(connection, args),
            "raw" => Step::Raw { connection, pieces: args },
            "round" => Step::Round { connection, args },
            _ => return Err(unknown()),
        };
        scene.steps.push((step, Answer { bytes: Bytes::new(), end: End::Reply }, number));
    }
    Ok(())
}

/// An answer as lines of a transcript.
pub(crate) fn answer_lines(answer: &Answer) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = answer.bytes.as_slice();
    while let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") {
        lines.push(line(&rest[..end]));
        rest = &rest[end + 2..];
    }
    if !rest.is_empty() {
        lines.push(format!("< {} (and no line break)", escaped(rest)));
    }
    match answer.end {
        End::Reply => {}
        End::Closed => lines.push("closed".to_owned()),
        End::Silence => lines.push("# and then nothing, for seconds".to_owned()),
    }
    lines
}

/// One line of a reply. Nothing ends in a space that an editor could take away.
fn line(bytes: &[u8]) -> String {
    let text = escaped(bytes);
    match text.strip_suffix(' ') {
        Some(text) => format!("< {text}\\x20"),
        None if text.is_empty() => "<".to_owned(),
        None => format!("< {text}"),
    }
}

/// A scene as text.
pub(crate) fn scene_text(title: &str, comments: &[String], steps: &[(&Step, &Answer)]) -> String {
    let mut lines = vec![format!("== {title}")];
    lines.extend_from_slice(comments);
    for (step, answer) in steps {
        let text = step.to_string();
        let (sent, pause) =
            text.split_once("\npause ").map_or((text.as_str(), None), |(sent, ms)| (sent, Some(ms)));
        lines.push(sent.to_owned());
        lines.extend(answer_lines(answer));
        lines.extend(pause.map(|ms| format!("pause {ms}")));
    }
    lines.push(String::new());
    lines.join("\n")
}
