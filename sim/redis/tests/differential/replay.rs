//! Transcripts recorded from a real Redis, replayed against the node.
//!
//! To add a scene, write its `>` lines and record: `DOUBLEHOLD_RECORD_TRANSCRIPTS=1 cargo test -p doublehold-sim-redis
//! --test differential transcripts` puts the real server's replies under them.

use std::path::PathBuf;

use super::client::{Answer, Clients, End};
use super::known::Known;
use super::real::RealRedis;
use super::run::{rest, start_afresh};
use super::script::Step;
use super::transcript::{Scene, answer_lines, parse, scene_text};
use super::{ours, say};

#[test]
fn transcripts_of_a_real_redis_replay_the_same() {
    let known = Known::read().expect("the list of known differences is well-formed");
    if std::env::var("DOUBLEHOLD_RECORD_TRANSCRIPTS").is_ok_and(|value| value == "1") {
        record(&known);
    }
    let port = ours::start();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for path in files() {
        let (header, scenes) = read(&path);
        assert!(
            header.iter().any(|line| line.contains("Redis 7")),
            "{path:?} does not say what it was recorded from"
        );
        for scene in &scenes {
            compared += scene.steps.len();
            wrong.extend(
                replay(&mut Clients::of(port), scene, &known).map(|why| format!("{}: {why}", path.display())),
            );
        }
    }
    assert!(compared >= 150, "only {compared} steps in the transcripts");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The first difference, in words.
fn replay(server: &mut Clients, scene: &Scene, known: &Known) -> Option<String> {
    start_afresh(server).expect("the node is up");
    for (step, recorded, line) in &scene.steps {
        let ours = ask(server, step);
        if !agree(known, step, recorded, &ours) {
            let (recorded, ours) = (answer_lines(recorded).join("\n"), answer_lines(&ours).join("\n"));
            let title = &scene.title;
            return Some(format!("line {line}, `{title}`: {step}\nrecorded:\n{recorded}\nours:\n{ours}\n"));
        }
    }
    None
}

fn agree(known: &Known, step: &Step, recorded: &Answer, now: &Answer) -> bool {
    match step {
        // Queued commands with known differences are not recorded.
        Step::Send { args, .. } => known.agree(args, &[], recorded, now),
        Step::Round { .. } | Step::Raw { .. } => recorded == now,
    }
}

fn ask(server: &mut Clients, step: &Step) -> Answer {
    server.send(step).expect("the server takes connections");
    let answer = server.receive(step).expect("the server takes connections");
    if let Step::Send { pause, .. } = step {
        rest(*pause);
    }
    answer
}

/// Writes the replies of a real server into the files, where they are not the same but for known differences.
fn record(known: &Known) {
    let real = RealRedis::start().expect("recording needs a real redis-server");
    for path in files() {
        let (header, scenes) = read(&path);
        let kept = header.into_iter().filter(|line| !line.starts_with("# recorded from"));
        let mut text = format!("# recorded from Redis {} on {}\n", real.version, today());
        kept.for_each(|line| text.push_str(&format!("{line}\n")));
        for scene in &scenes {
            // The last scene may have ended in QUIT.
            let mut server = Clients::of(real.port);
            start_afresh(&mut server).expect("the server is up");
            let answers = scene.steps.iter().map(|(step, before, _)| {
                let answer = ask(&mut server, step);
                if agree(known, step, before, &answer) { before.clone() } else { answer }
            });
            let answers: Vec<Answer> = answers.collect();
            assert!(
                answers.iter().all(|answer| answer.end != End::Silence),
                "`{}` is not answered",
                scene.title
            );
            let steps: Vec<_> = scene.steps.iter().map(|(step, ..)| step).zip(&answers).collect();
            text.push_str(&format!("\n{}", scene_text(&scene.title, &scene.comments, &steps)));
        }
        std::fs::write(&path, text).expect("the transcripts can be written");
        say(&format!("recorded {}", path.display()));
    }
}

fn files() -> Vec<PathBuf> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let entries = std::fs::read_dir(&directory).expect("the transcripts are part of the repository");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

fn read(path: &PathBuf) -> (Vec<String>, Vec<Scene>) {
    let text = std::fs::read_to_string(path).expect("the transcript can be read");
    parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The date, as `date -u +%F` gives it.
fn today() -> String {
    let output = std::process::Command::new("date").args(["-u", "+%F"]).output().expect("`date` exists");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
