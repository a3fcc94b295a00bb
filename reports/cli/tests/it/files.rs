//! Files that the binary writes: what a user already has is never lost, whatever goes wrong and however it is named.

use std::path::Path;
use std::process::{Command, Stdio};

use snapbox::str;

use crate::kit::{Answer, Ask, Folder, assert_text, command, doublehold, shell};

const SCENARIO: &str = include_str!("../../../../scenarios/catalog/one-node/quiet.toml");

#[test]
fn a_result_is_never_written_over_the_scenario_however_that_is_named() {
    let folder = Folder::new();
    let mine = folder.write("mine.toml", SCENARIO);
    let mut others = vec![mine.clone(), folder.path("./mine.toml")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&mine, folder.path("symlink")).expect("a link");
        others.push(folder.path("symlink"));
    }
    std::fs::hard_link(&mine, folder.path("hardlink")).expect("a link");
    others.push(folder.path("hardlink"));
    for other in &others {
        for option in ["--plan", "--trace", "--history"] {
            for scenario in [mine.clone(), format!("{mine}/redlock")] {
                let said = doublehold(&["run", &scenario, option, other]).refused();
                assert!(said.contains("a result cannot be written over the scenario"), "{scenario}: {said}");
                assert_eq!(folder.read(&mine), SCENARIO, "{scenario} {option} {other}");
            }
        }
    }
    // A file that happens to be called like a scenario of the catalogue is not that scenario.
    folder.doublehold(&["run", "quiet", "--plan", "quiet"]).ends(0);
    assert!(folder.read("quiet").starts_with("plan = 2"));
}

#[test]
fn two_results_are_never_written_to_one_file() {
    let folder = Folder::new();
    let kept = folder.write("kept", "precious");
    std::fs::hard_link(&kept, folder.path("hardlink")).expect("a link");
    let mut others = vec!["kept", "./kept", "hardlink"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&kept, folder.path("symlink")).expect("a link");
        others.push("symlink");
    }
    for other in &others {
        let said = folder.doublehold(&["run", "quiet", "--plan", "kept", "--history", other]).refused();
        assert_eq!(said, "error: two results cannot both be written to `kept`\nhint: name a file for each\n");
        assert_eq!(folder.read("kept"), "precious");
    }
    // Neither exists yet: the same file all the same.
    assert_text(
        folder.refusals(&[["run", "quiet", "--trace", "new", "--history", "./new"]]),
        str![[r#"
$ doublehold run quiet --trace new --history ./new
error: two results cannot both be written to `./new`
hint: name a file for each

"#]],
    );
    assert!(!folder.names().contains(&"new".to_owned()), "nothing is left behind: {:?}", folder.names());
}

/// A limit on the size of files stands for a disk that is full.
#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_every_file_as_it_was() {
    let folder = Folder::new();
    let (plan, trace) = (folder.write("run.plan", "a good plan"), folder.write("trace", "a good trace"));
    let line = r#"ulimit -f 8; trap '' XFSZ; exec "$0" run quiet --plan "$1" --trace "$2" --history "$3""#;
    let new = folder.path("new");
    let said = shell(line, &[&plan, &trace, &new]).refused();
    assert!(said.starts_with("error: cannot write the trace to `"), "{said}");
    assert_eq!(
        (folder.read(&plan), folder.read(&trace)),
        ("a good plan".to_owned(), "a good trace".to_owned())
    );
    assert_eq!(folder.names(), ["run.plan", "trace"], "nothing half-written is left behind");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_its_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    let private = folder.write("private.plan", "old");
    let mode = |path: &str| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    std::fs::set_permissions(&private, std::fs::Permissions::from_mode(0o600)).expect("ours");
    let (link, dangling) = (folder.path("link.plan"), folder.path("dangling.plan"));
    symlink("private.plan", &link).expect("a link");
    symlink("later.plan", &dangling).expect("a link");
    let fresh = folder.path("fresh.plan");
    for path in [&link, &dangling, &fresh] {
        doublehold(&["run", "quiet", "--plan", path]).ends(0);
        assert!(folder.read(path).starts_with("plan = 2"), "{path}");
    }
    for link in [&link, &dangling] {
        assert!(std::fs::symlink_metadata(link).expect("it is there").is_symlink(), "{link} is a file now");
    }
    assert_eq!(mode(&private), 0o600);
    let usual = folder.write("usual", "");
    assert_eq!(mode(&fresh), mode(&usual), "a new file is as readable as any other");
    assert_eq!(folder.names().len(), 6, "{:?}", folder.names());
}

#[cfg(target_os = "linux")]
#[test]
fn results_can_be_written_to_streams() {
    let folder = Folder::new();
    let text = doublehold(&["run", "quiet", "--plan", "/dev/stdout"]).answer().stdout;
    assert!(text.starts_with("plan = 2") && text.contains("replay: "), "{text}");

    let out = folder.path("out");
    shell(r#""$0" run quiet --plan /dev/stdout >"$1""#, &[&out]).ends(0);
    assert_eq!(folder.read(&out), text, "the plan, and after it what was printed");
    assert_eq!(folder.names(), ["out"]);

    let nowhere = ["run", "quiet", "--trace", "/dev/null", "--history", "/dev/null"];
    doublehold(&nowhere).ends(0);
    assert!(std::fs::metadata("/dev/null").is_ok_and(|it| !it.is_file()), "it is a device still");
}

/// A run that takes minutes: somebody asks again and again for a lock that is held for ever.
#[cfg(unix)]
const ENDLESS: &str = r#"
claim = "it takes long"
lock = { algorithm = "single", ttl = "365d" }
nodes = { names = ["A"] }
limits = { time = "365d", events = 100000000 }
[[clients]]
name = "c1"
program = ["acquire", "work 300d", "release"]
[[clients]]
name = "c2"
program = ["acquire", "release"]
start = "c1's grant"
give_up_after = "300d"
retry = "1ms"
"#;

#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_ends_at_once_and_leaves_no_file_of_its_own() {
    for (signal, status) in [("TERM", 143), ("INT", 130)] {
        let folder = Folder::new();
        let scenario = folder.write("endless.toml", ENDLESS);
        let (old, new) = (folder.write("old.jsonl", "kept\n"), folder.path("new.plan"));
        let mut run = doublehold(&["run", &scenario, "--history", &old, "--plan", &new])
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary starts");
        while !Path::new(&new).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
        command("kill").args(["-s", signal, &run.id().to_string()]).ends(0);
        let asked = std::time::Instant::now();
        assert_eq!(run.wait().expect("it ends").code(), Some(status), "{signal}");
        assert!(asked.elapsed().as_secs() < 5, "{:?}", asked.elapsed());
        assert_eq!(folder.names(), ["endless.toml", "old.jsonl"]);
        assert_eq!(folder.read("old.jsonl"), "kept\n");
    }
}

/// The answer of a command that might wait for ever: it is given ten seconds.
#[cfg(unix)]
fn answered(command: &mut Command) -> Answer {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let asked = std::time::Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if asked.elapsed().as_secs() >= 10 {
            child.kill().expect("it is ours");
            child.wait().expect("it is killed");
            panic!("no answer: {command:?}");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.wait_with_output().expect("it ended").into()
}

#[cfg(unix)]
fn fifo(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    command("mkfifo").arg(&path).ends(0);
    path
}

#[cfg(unix)]
#[test]
fn what_cannot_take_a_result_is_refused_and_never_waited_for() {
    let folder = Folder::new();
    let pipe = fifo(&folder, "pipe");
    let socket = folder.path("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let places = [
        (&pipe, "it is a pipe that nobody reads\nhint: start its reader first, or name a file"),
        (&socket, "it is a socket\nhint: name a file"),
        (&folder.path(""), "it is a directory\nhint: name a file in it"),
    ];
    for (path, why) in places {
        let output = answered(&mut doublehold(&["run", "quiet", "--plan", path]));
        let said = output.stderr;
        assert_eq!(output.status, Some(2), "{said}");
        assert!(said.contains(&format!("cannot write the plan to `{path}`: {why}")), "{said}");
    }
    assert_eq!(folder.names(), ["pipe", "socket"]);
}

/// The trace is more than a pipe holds, so it is written in several parts.
#[cfg(unix)]
#[test]
fn a_pipe_takes_a_whole_result_however_slowly_and_late_it_is_read() {
    let folder = Folder::new();
    let (pipe, whole) = (fifo(&folder, "pipe"), folder.path("whole"));
    doublehold(&["run", "quiet/redlock", "--trace", &whole]).ends(0);
    let whole = folder.read(&whole);
    assert!(whole.len() > 100_000, "{} bytes are no more than a pipe holds", whole.len());
    let late = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(200));
            let mut stream = std::fs::File::open(pipe).expect("the pipe is there");
            std::thread::sleep(std::time::Duration::from_millis(500));
            let mut text = String::new();
            std::io::Read::read_to_string(&mut stream, &mut text).expect("UTF-8");
            text
        })
    };
    let output = answered(&mut doublehold(&["run", "quiet/redlock", "--trace", &pipe]));
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    assert!(late.join().expect("it read") == whole, "the trace came whole");
}

#[cfg(unix)]
#[test]
fn a_run_whose_reader_stops_reading_can_be_ended() {
    let folder = Folder::new();
    let pipe = fifo(&folder, "pipe");
    // Opened for both, so that it does not wait; nothing is ever read.
    let _reader = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).expect("the pipe is there");
    let mut run = doublehold(&["run", "quiet/redlock", "--trace", &pipe]).spawn().expect("the binary starts");
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert!(run.try_wait().expect("it is ours").is_none(), "it waits for its reader");
    command("kill").args(["-s", "TERM", &run.id().to_string()]).ends(0);
    let asked = std::time::Instant::now();
    let ended = loop {
        if let Some(status) = run.try_wait().expect("it is ours") {
            break status.code();
        }
        if asked.elapsed().as_secs() >= 5 {
            run.kill().expect("it is ours");
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert_eq!(ended, Some(143));
}
