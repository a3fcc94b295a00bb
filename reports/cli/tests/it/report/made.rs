//! Records that no sweep made: counts are chosen, so that a page can be compared with what was put in.

use std::collections::BTreeMap;

use doublehold_history::Predicate;
use doublehold_scenarios::{Engine, LeanEngine};
use doublehold_sweeps::records::Example;
use doublehold_sweeps::study::UsageText;
use doublehold_sweeps::sweep::{
    AxisHeader, BATCH, Batch, DesignHeader, Durations, FORMAT, PredicateCount, StudyHeader, Sums, WeatherLine,
};

use crate::kit::{Answer, Ask, Folder, doublehold};

/// Records in a folder, and the pages of them.
impl Folder {
    /// Writes records: the header's line, and one for each batch, with the seeds that its place has.
    pub(crate) fn records(&self, header: &StudyHeader, batches: &[Batch]) -> &Folder {
        let mut text = serde_json::to_string(header).expect("JSON") + "\n";
        for batch in batches {
            let seed = header.first_seed(batch.stratum, batch.batch).unwrap_or(batch.seed);
            text += &(serde_json::to_string(&Batch { seed, ..batch.clone() }).expect("JSON") + "\n");
        }
        self.write("runs.jsonl", text);
        self
    }

    pub(crate) fn examples(&self, examples: &[Example]) -> &Folder {
        let lines = examples.iter().map(|it| serde_json::to_string(it).expect("JSON") + "\n");
        self.write("examples.jsonl", lines.collect::<String>());
        self
    }

    /// Runs `report` on it.
    pub(crate) fn report(&self, more: &[&str]) -> Answer {
        report(&[&[&*self.at().to_string_lossy()], more].concat())
    }

    /// Runs `report` on it, which has to succeed, and returns the page, with plain spaces before signs.
    pub(crate) fn page(&self) -> String {
        let answer = self.report(&[]);
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        self.read("report.html").replace('\u{a0}', " ")
    }
}

pub(crate) fn report(arguments: &[&str]) -> Answer {
    doublehold(&["report"]).args(arguments).answer()
}

const WORLD: &str = "claim = \"made up\"\n\n[[clients]]\nname = \"c1\"\nprogram = [\"acquire\", \"work 1s\", \
                     \"release\"]\nretry = \"1s..3s\"\nrounds = 2\n\n[lock]\nalgorithm = \"single\"\nttl = \"4s\"\n\n\
                     [network]\ndelay = \"1ms..5ms\"\n\n[nodes]\nnames = [\"A\"]\npersistence = \"none\"\n";

/// The header of a study of these designs over these axes, with so many runs a cell.
pub(crate) fn header(designs: &[&str], axes: &[(&str, &[&str])], runs: u64) -> StudyHeader {
    let design = |name: &&str| DesignHeader {
        name: (*name).to_owned(),
        about: format!("what {name} is"),
        weather: vec![WeatherLine {
            kind: "pause".to_owned(),
            every: "40s".to_owned(),
            rest: vec![
                ("for".to_owned(), "{ median = \"1s\", sigma = \"3/2\" }".to_owned()),
                ("host".to_owned(), "[\"clients\"]".to_owned()),
            ],
            source: "a guess".to_owned(),
        }],
        strikes_for: "20s".to_owned(),
        world: WORLD.to_owned(),
        has_no_deadline: false,
    };
    StudyHeader {
        sweep: FORMAT,
        program: "0.0.0".to_owned(),
        engine: LeanEngine.name().to_owned(),
        study: "made-up".to_owned(),
        question: "Which of these made-up designs is it?".to_owned(),
        usage: UsageText::default(),
        assumptions: vec!["Nobody ran anything.".to_owned()],
        designs: designs.iter().map(design).collect(),
        axes: axes
            .iter()
            .map(|(key, values)| AxisHeader {
                key: (*key).to_owned(),
                values: values.iter().map(|it| (*it).to_owned()).collect(),
            })
            .collect(),
        strata: vec![BTreeMap::new()],
        quiet_holds: false,
        runs,
        by_weight: 0,
        batch: BATCH,
        precision: None,
        seed: 1,
        shard: [1, 1],
        partial: None,
        fingerprint: vec!["0123456789abcdef".to_owned()],
        text: "# Nobody ran this study.\n".to_owned(),
    }
}

/// A batch in which the first so many runs violate each predicate, and the last so many are undecided.
pub(crate) fn batch(cell: u64, runs: u64, of: impl Fn(Predicate) -> (u64, u64)) -> Batch {
    let mut batch = Batch {
        cell,
        seed: 1,
        runs,
        grants: Sums { sum: runs * 6, squares: runs * 36 },
        operated_ms: Sums { sum: runs * 9_000, squares: runs * 81_000_000 },
        obtained: durations((0..runs * 6).map(|run| 5 + run % 40)),
        missed: cell % 2,
        recovered: durations((0..10).map(|death| 1_000 + 100 * death * (cell + 1))),
        ..Batch::default()
    };
    for predicate in Predicate::ALL {
        let (violated, undecided) = of(predicate);
        let outcome = PredicateCount {
            violated,
            undecided,
            incidents: Sums { sum: violated, squares: violated },
            violations: digits(0..violated, runs),
            doubts: digits(runs - undecided..runs, runs),
            ..PredicateCount::default()
        };
        batch.predicates.insert(predicate, outcome);
        if matches!(predicate, Predicate::P1 | Predicate::P2) && violated > 0 {
            batch.overlaps.insert(predicate, durations((0..violated).map(|run| 20 + 35 * run)));
        }
    }
    batch
}

pub(crate) fn durations(ms: impl Iterator<Item = u64>) -> Durations {
    let mut durations = Durations::default();
    ms.for_each(|ms| durations.add(ms * 1_000_000));
    durations
}

/// Which runs, as records mark them: a binary digit for each, four to a hexadecimal one.
fn digits(marked: std::ops::Range<u64>, runs: u64) -> String {
    if marked.is_empty() {
        return String::new();
    }
    let digit = |place: u64| {
        let bits = (0..4).filter(|bit| marked.contains(&(place * 4 + bit))).map(|bit| 8 >> bit);
        char::from_digit(bits.sum(), 16).expect("four binary digits")
    };
    (0..runs.div_ceil(4)).map(digit).collect()
}
