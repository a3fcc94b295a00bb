//! `report` as a user meets it: what the page says of chosen counts, that the same records give the same bytes, that
//! nothing in records can do harm, and what is refused.

mod answers;
mod case;
mod choices;
mod divided;
mod drawn;
mod figures;
mod made;
mod numbers;
mod odd;
mod ranks;
mod sizes;
mod undecided;

use std::fs;
use std::path::PathBuf;

use doublehold_history::Predicate;
use doublehold_sweeps::records::{Example, Shrinkage, TimedSentence};
use snapbox::str;

use crate::kit::{Folder, assert_text};
use crate::report::made::{batch, header, report};

/// Two designs at three points, with an example. Pages of it are in `golden/`, to be read in review.
fn small(folder: &Folder) {
    let header = header(&["plain", "fenced"], &[("lock.ttl", &["1s", "2s", "4s"])], 400);
    let counts = |cell: u64| {
        move |predicate: Predicate| match (predicate, cell % 2) {
            (Predicate::P1 | Predicate::P2, _) => (24 >> (cell / 2), 0),
            (Predicate::P3 | Predicate::P4, 0) => (12 >> (cell / 2), 0),
            (Predicate::LV, _) => (0, 3),
            _ => (0, 0),
        }
    };
    let batches: Vec<_> = (0..6).map(|cell| batch(cell, 400, counts(cell))).collect();
    folder.records(&header, &batches).examples(&[example(0, "plain")]);
}

fn example(cell: u64, design: &str) -> Example {
    Example {
        cell,
        predicate: Predicate::P2,
        seed: 17,
        design: design.to_owned(),
        headline: "c1 pauses for 5 s".to_owned(),
        why: Some("the key expired while c1 was paused".to_owned()),
        what_happened: None,
        real: true,
        others: [99, 100],
        size: Shrinkage {
            from: [("faults".to_owned(), 4), ("nodes".to_owned(), 1)].into(),
            to: [("faults".to_owned(), 1), ("nodes".to_owned(), 1)].into(),
        },
        sentences: vec![TimedSentence { at: "0.005 s".to_owned(), words: "c1 pauses".to_owned() }],
        svg: "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"run\" viewBox=\"0 0 9 9\"><rect width=\"9\" \
              height=\"9\"/></svg>"
            .to_owned(),
        scenario: "claim = \"c1 & c2\"\n".to_owned(),
        replay: "doublehold replay examples/plain-P2.plan".to_owned(),
        run: "doublehold run examples/plain-P2.toml".to_owned(),
    }
}

/// The same designs without a grid, of which the whole page is in `golden/`.
fn smallest(folder: &Folder) {
    let of = |cell: u64| {
        move |it: Predicate| match it {
            Predicate::P1 => (9, 0),
            Predicate::P4 if cell == 0 => (4, 1),
            _ => (0, 0),
        }
    };
    let batches = [batch(0, 400, of(0)), batch(1, 400, of(1))];
    folder.records(&header(&["plain", "fenced"], &[], 400), &batches);
}

/// A page as it is read in review: without its style sheet, a block on a line, and of a picture its words. What pages
/// look like is for a browser to say (`reports/tests/browser/report.py`).
fn readable(page: &str) -> String {
    let (before, rest) = page.split_once("<style>").expect("a page has a style sheet");
    let (_, rest) = rest.split_once("</style>").expect("it ends");
    let mut parts = rest.split("<svg ");
    let mut text = before.to_owned() + parts.next().unwrap_or_default();
    for part in parts {
        let (picture, after) = part.split_once("</svg>").expect("a picture ends");
        let texts = picture.lines().filter_map(|line| line.strip_prefix("<text ")?.split_once('>'));
        let words: Vec<&str> = texts.map(|(_, words)| words.trim_end_matches("</text>")).collect();
        text += &format!("picture: {}{}", words.join(" | "), after.trim_start());
    }
    let blocks =
        ["h1", "h2", "h3", "h4", "p", "ul", "li", "pre", "details", "table", "tr", "td", "th", "figure"];
    for block in blocks {
        for end in [">", " "] {
            text = text.replace(&format!("<{block}{end}"), &format!("\n<{block}{end}"));
        }
    }
    text + "\n"
}

/// After a wanted change, `UPDATE_GOLDEN=1 cargo test -p doublehold-cli --test it report::` writes the files anew; look
/// at the difference.
#[test]
fn the_pages_of_small_studies_are_those_in_the_repository() {
    let (folder, other) = (Folder::new(), Folder::new());
    small(&folder);
    smallest(&other);
    folder.page();
    other.page();
    let files = ["report.md", "cells.csv", "cells.json"].map(|name| (name, folder.read(name)));
    let page = ("page.txt", readable(&other.read("report.html")));
    for (name, actual) in files.into_iter().chain([page]) {
        let path: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "tests", "it", "report", "golden", name].iter().collect();
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &actual).expect("the golden file can be written");
        }
        let expected = fs::read_to_string(&path).expect("a golden file");
        let line = actual.lines().zip(expected.lines()).position(|(one, other)| one != other);
        assert!(actual == expected, "{name} changed, from line {:?} on", line.map(|line| line + 1));
    }
}

#[test]
fn the_same_records_give_the_same_bytes_wherever_they_are_written() {
    let (folder, other) = (Folder::new(), Folder::new());
    small(&folder);
    folder.page();
    let second = folder.report(&["--out", &other.at().to_string_lossy()]);
    assert_eq!(second.status, Some(0), "{}", second.stderr);
    for name in ["report.html", "report.md", "cells.csv", "cells.json"] {
        assert!(folder.read(name) == other.read(name), "{name}");
    }
}

#[test]
fn plots_can_be_written_as_png() {
    let folder = Folder::new();
    folder.records(&header(&["a"], &[], 400), &[batch(0, 400, |_| (0, 0))]);
    let output = folder.report(&["--png"]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    assert_text(
        folder.hidden(&output.stdout),
        str![[r#"
[FOLDER]/report.html
[FOLDER]/report.md
[FOLDER]/cells.csv
[FOLDER]/cells.json
[FOLDER]/first-1-1-P1.png
[FOLDER]/first-1-1-P4.png
[FOLDER]/others-1-1-P2.png
[FOLDER]/others-1-1-LV.png
[FOLDER]/others-1-1-P3.png
[FOLDER]/others-1-1-WR.png
[FOLDER]/tradeoff-1-1.png
[FOLDER]/tradeoff-1-2.png

Which of these made-up designs is it?

In simulated runs, over 1 design:
- that two clients believe they hold the lock, another client gets the lock before its holder's
  deadline, data is damaged or somebody waits too long was not seen: at most 0.75 % of runs.
There is one design, and nothing to compare it with.
Only comparisons count: the rates of faults are no forecast, and some of their lengths are guesses.

  design  P1              P2              P4              LV
  a       at most 0.75 %  at most 0.75 %  at most 0.75 %  at most 0.75 %
  P1: two believe they hold it; P2: given away before a deadline; P4: data damaged; LV: waited too
  long. Designs that share a letter are not told apart.

"#]],
    );
    for name in ["first-1-1-P1.png", "tradeoff-1-1.png"] {
        assert_eq!(&fs::read(folder.path(name)).expect("it was written")[..4], b"\x89PNG");
    }
}

#[test]
fn the_terminal_shows_the_files_the_answer_and_the_rates() {
    let folder = Folder::new();
    small(&folder);
    let output = folder.report(&[]);
    assert_text(
        folder.hidden(&output.stdout),
        str![[r#"
[FOLDER]/report.html
[FOLDER]/report.md
[FOLDER]/cells.csv
[FOLDER]/cells.json

Which of these made-up designs is it?

In simulated runs, over 2 designs at 3 points:
- two clients believe they hold the lock in 1.5 to 6.0 % of runs;
- another client gets the lock before its holder's deadline in 1.5 to 6.0 % of runs;
- data is damaged in up to 3.0 % of runs;
- that somebody waits too long was not seen: at most 2 % of runs.
Of 3 points of the grid, that data is damaged was not seen at: 0 with `plain`; 3 with `fenced`.
Only comparisons count: the rates of faults are no forecast, and some of their lengths are guesses.

with lock.ttl = 1s
  design  P1       P2       P4                LV
  plain   6.0 % a  6.0 % a  3.0 % a           at most 2 % a
  fenced  6.0 % a  6.0 % a  at most 0.75 % b  at most 2 % a

with lock.ttl = 2s
  design  P1       P2       P4                LV
  plain   3.0 % a  3.0 % a  1.5 % a           at most 2 % a
  fenced  3.0 % a  3.0 % a  at most 0.75 % a  at most 2 % a

with lock.ttl = 4s
  design  P1       P2       P4                LV
  plain   1.5 % a  1.5 % a  0.8 % a           at most 2 % a
  fenced  1.5 % a  1.5 % a  at most 0.75 % a  at most 2 % a
  P1: two believe they hold it; P2: given away before a deadline; P4: data damaged; LV: waited too
  long. Designs that share a letter are not told apart.

"#]],
    );
    assert_eq!(output.stderr, "");
}

#[test]
fn what_comes_from_a_file_does_no_harm() {
    const BAD: &str = "<script>alert(1)</script>&\"'|`*_[x](y)\u{202e}";
    let folder = Folder::new();
    let mut header = header(&[BAD, "`"], &[(BAD, &[BAD, "2s"])], 100);
    header.question = BAD.to_owned();
    header.assumptions = vec![BAD.to_owned()];
    header.text = format!("```\n{BAD}");
    header.designs[0].weather[0].source = BAD.to_owned();
    header.designs[0].world = BAD.to_owned();
    let batches: Vec<_> = (0..4).map(|cell| batch(cell, 100, |_| (3, 1))).collect();
    let mut example = example(0, BAD);
    example.headline = BAD.to_owned();
    example.why = Some(BAD.to_owned());
    example.scenario = BAD.to_owned();
    example.svg = format!("<svg onload=\"x()\"><script>y()</script><text>{}</text></svg>", "a &lt;b");
    let torn = Example { svg: "</figure><script>z()</script>".to_owned(), ..example.clone() };
    folder.records(&header, &batches).examples(&[example, torn]);
    let page = folder.page();
    assert!(!page.contains("<script") && !page.contains("onload"), "a script is in the page");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;"), "it is shown");
    assert_eq!(page.matches("<img ").count(), 2, "pictures are images, even the one that is none");
    let markdown = folder.read("report.md");
    // In a block of code it is as it is in the file; nowhere else.
    let mut fence = None;
    for line in markdown.lines() {
        match fence {
            Some(begun) if line == begun => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = Some(line),
            None => {
                let bare: String = line.split('`').step_by(2).collect();
                assert!(!bare.contains("<script"), "{line}");
            }
        }
    }
    assert_eq!(fence, None, "every block of code ends");
}

/// A page on which only the images' own content is left out.
fn without_images(page: &str) -> String {
    let mut parts = page.split("data:image/svg+xml;base64,");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('"').expect("the address ends").1).collect::<String>()
}

#[test]
fn a_picture_out_of_a_file_changes_nothing_around_it() {
    let folder = Folder::new();
    small(&folder);
    let honest = without_images(&folder.page());
    assert!(honest.contains("form-action 'none'"), "what gets through all the same sends nothing");
    let inserted =
        "\"/></svg><script>a()</script><meta http-equiv=\"refresh\" content=\"0;url=//x\"><svg x=\"";
    for svg in [
        format!("<svg><rect fill='{inserted}'/></svg>"),
        format!("<svg id='{inserted}' class='main'><use href='#{inserted}'/></svg>"),
        "<svg style='position:fixed;top:0;left:0;width:100%;height:100%'><text>all is safe</text></svg>"
            .to_owned(),
        "<svg><style>main{display:none}</style></svg>".to_owned(),
        "<svg xmlns='http://www.w3.org/2000/svg' onload='a()'><script>a()</script></svg>".to_owned(),
        format!("</figure><script>a()</script>{inserted}"),
        "\u{0}\u{202e}<svg".to_owned(),
        String::new(),
    ] {
        folder.examples(&[Example { svg: svg.clone(), ..example(0, "plain") }]);
        assert!(without_images(&folder.page()) == honest, "{svg}");
    }
}

#[test]
fn several_folders_make_one_page() {
    let (one, two) = (Folder::new(), Folder::new());
    small(&one);
    let mut header = header(&["other"], &[], 500);
    header.question = "And what of another?".to_owned();
    header.study = "another".to_owned();
    two.records(&header, &[batch(0, 500, |_| (1, 0))]);
    two.examples(&[example(0, "other")]);
    let output = report(&[&*one.at().to_string_lossy(), &*two.at().to_string_lossy()]);
    assert_eq!(output.status, Some(0), "{}", output.stderr);
    let page = one.read("report.html");
    assert!(page.contains("Which of these made-up designs is it?") && page.contains("And what of another?"));
    assert!(page.contains("id=\"example-1-1\"") && page.contains("id=\"example-2-1\""));
    assert_eq!(page.matches("<img ").count(), 2, "each example has its picture");
    assert!(page.contains("doublehold report made-up another"));
    assert!(!two.has("report.html"), "the page is beside the first");
    let csv = one.read("cells.csv");
    assert_eq!(csv.lines().count(), 1 + 6 + 1);
    assert!(csv.lines().nth(7).is_some_and(|line| line.starts_with("another,0,other,,500,")), "{csv}");
}
