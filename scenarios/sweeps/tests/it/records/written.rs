//! Files against a study in which every batch is written out: what is written, gone on with after any cut, merged
//! from any shards in any order, and read.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use doublehold_scenarios::LeanEngine;
use doublehold_scenarios::Seed;
use doublehold_sim::Stream;
use doublehold_sweeps::records::{Begun, Journal, Records, RecordsError, file_name, merge};
use doublehold_sweeps::results::Results;
use doublehold_sweeps::sweep::{HandOut, Order, PartialHeader, Shard, StudyHeader};

use crate::records::model::{Model, Planned, is_enough, some_shards};
use crate::records::sums::assert_sums;

/// A drawn study, its batches, and what its records begin with.
struct Drawn {
    model: Model,
    header: StudyHeader,
    planned: Vec<Planned>,
    stream: Stream,
    folder: tempfile::TempDir,
}

impl Drawn {
    fn of(seed: u64) -> Drawn {
        let model = Model::random(seed);
        Drawn {
            header: StudyHeader::new(&LeanEngine, &model.study, Shard::WHOLE).expect("it can be run"),
            planned: model.units(),
            stream: Stream::new(Seed(seed), "files"),
            folder: tempfile::tempdir().expect("a temporary directory"),
            model,
        }
    }

    fn below(&mut self, most: u64) -> u64 {
        self.stream.below(most)
    }

    fn header(&self, shard: Shard) -> StudyHeader {
        StudyHeader { shard: [shard.number(), shard.total()], ..self.header.clone() }
    }

    /// The batches of a shard.
    fn own(&self, shard: Shard) -> Vec<&Planned> {
        let shards = self.model.shards_of(&self.planned, shard.total());
        self.planned.iter().zip(shards).filter(|(_, of)| *of == shard.number()).map(|(it, _)| it).collect()
    }

    /// A file's lines: the header's, and one for each batch.
    fn lines(&self, shard: Shard) -> Vec<String> {
        let header = serde_json::to_string(&self.header(shard)).expect("JSON");
        let batches = self.own(shard).into_iter().map(line);
        [header + "\n"].into_iter().chain(batches).collect()
    }

    fn path(&self, shard: Shard) -> PathBuf {
        self.folder.path().join(file_name(shard))
    }

    /// Goes on with a shard's file for so many batches.
    fn sweep(&self, shard: Shard, most: usize) -> Result<Begun, RecordsError> {
        let width = self.model.precision.map(|(_, width)| width);
        let mut order = Order::from_study(&self.model.study, shard, move |counted| is_enough(width, counted));
        let (mut journal, begun) = Journal::open(&self.path(shard), &self.header(shard), &mut order)?;
        let batch =
            |place: u64| &self.planned.iter().find(|it| it.place == place).expect("it is planned").batch;
        for _ in 0..most {
            let HandOut::Run(unit) = order.hand_out() else { break };
            journal.add(batch(unit.place))?;
            order.add_batch(batch(unit.place));
        }
        Ok(begun)
    }
}

fn line(planned: &Planned) -> String {
    serde_json::to_string(&planned.batch).expect("JSON") + "\n"
}

fn runs(planned: &[&Planned]) -> u64 {
    planned.iter().map(|it| it.batch.runs).sum()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("it was written")
}

/// A file that was cut goes on to what it would have been, and says what was in it.
fn assert_gone_on(drawn: &Drawn, shard: Shard, lines: &[String], cut: usize) {
    let (path, whole) = (drawn.path(shard), lines.concat());
    fs::write(&path, &whole.as_bytes()[..cut]).expect("the folder is ours");
    let (mut length, mut kept) = (0, 0);
    while kept < lines.len() && length + lines[kept].len() <= cut {
        (length, kept) = (length + lines[kept].len(), kept + 1);
    }
    let begun = drawn.sweep(shard, usize::MAX).expect("it is its own file");
    let text = &drawn.model.study.text;
    assert_eq!(begun.runs, runs(&drawn.own(shard)[..kept.saturating_sub(1)]), "cut after {cut}: {text}");
    assert_eq!(begun.is_torn, length < cut, "cut after {cut}: {text}");
    assert!(read(&path) == whole, "cut after {cut}: {text}");
}

#[test]
fn a_sweep_writes_its_batches_and_goes_on_wherever_its_file_was_cut() {
    for seed in 100..116 {
        let mut drawn = Drawn::of(seed);
        let of = 1 + drawn.below(4);
        let shard = Shard::new(1 + drawn.below(of), of).expect("a shard");
        let (lines, path) = (drawn.lines(shard), drawn.path(shard));
        let some = drawn.below(lines.len() as u64) as usize;
        drawn.sweep(shard, some).expect("it is new");
        assert!(read(&path) == lines[..=some].concat(), "{some} batches of {}", drawn.model.study.text);
        let end_of = |count: usize| lines[..count].concat().len();
        let whole = end_of(lines.len());
        let at = end_of(drawn.below(lines.len() as u64) as usize);
        let any = drawn.below(whole as u64) as usize;
        for cut in [0, 1, at, at + 1, any, end_of(lines.len() - 1) + 1, whole - 1, whole] {
            assert_gone_on(&drawn, shard, &lines, cut);
        }
    }
}

/// The end of a line may be there before its beginning is: then the last line is torn, and any other is damaged.
#[test]
fn a_damaged_line_is_dropped_at_the_end_and_refused_before_it() {
    let mut damaged = 0;
    for seed in 130..140 {
        let drawn = Drawn::of(seed);
        let (lines, path) = (drawn.lines(Shard::WHOLE), drawn.path(Shard::WHOLE));
        for at in [lines.len() - 1, lines.len().saturating_sub(2)].into_iter().filter(|at| *at > 0) {
            let mut spoilt = lines.clone();
            spoilt[at].replace_range(..9, &"\0".repeat(9));
            fs::write(&path, spoilt.concat()).expect("the folder is ours");
            if at + 1 == lines.len() {
                let merged = merge(from_ref(&path), false, &mut Vec::new()).expect("it is torn");
                assert_eq!(merged.torn, [path.display().to_string()]);
                assert!(Results::read_file(&path).expect("it is torn").is_torn);
                let begun = drawn.sweep(Shard::WHOLE, usize::MAX).expect("it is torn");
                assert_eq!((begun.is_torn, begun.runs), (true, runs(&drawn.own(Shard::WHOLE)[..at - 1])));
                assert!(read(&path) == lines.concat());
            } else {
                let told = drawn.sweep(Shard::WHOLE, 0).err().expect("it is refused").to_string();
                assert!(told.contains(&format!("line {} is no batch", at + 1)), "{told}");
                let told =
                    merge(from_ref(&path), false, &mut Vec::new()).expect_err("it is refused").to_string();
                assert!(told.contains(&format!("line {} is no batch", at + 1)), "{told}");
                assert!(read(&path) == spoilt.concat(), "it was left alone");
                damaged += 1;
            }
        }
    }
    assert!(damaged > 4, "{damaged}");
}

/// A shard's file as it may be found: all of it, or cut somewhere after its header.
struct Found<'a> {
    shard: Shard,
    path: PathBuf,
    batches: Vec<&'a Planned>,
    is_torn: bool,
}

/// Some shards in any order, whole or cut.
fn found<'a>(drawn: &'a Drawn, stream: &mut Stream, of: u64, is_spoilt: bool) -> Vec<Found<'a>> {
    let shards = some_shards(of, &drawn.model.shards_of(&drawn.planned, of));
    let mut found = Vec::new();
    for shard in shards {
        let (mut lines, mut batches, mut is_torn) = (drawn.lines(shard), drawn.own(shard), false);
        if is_spoilt && stream.below(6) == 0 {
            continue;
        }
        if is_spoilt && stream.below(2) == 0 && lines.len() > 1 {
            let kept = [lines.len() as u64 - 1, 1 + stream.below(lines.len() as u64 - 1)]
                [stream.below(2) as usize] as usize;
            let torn = lines[kept][..stream.below(lines[kept].len() as u64) as usize].to_owned();
            is_torn = !torn.is_empty();
            lines.truncate(kept);
            lines.push(torn);
            batches.truncate(kept - 1);
        }
        let path = drawn.path(shard);
        fs::write(&path, lines.concat()).expect("the folder is ours");
        found.insert(stream.below(found.len() as u64 + 1) as usize, Found { shard, path, batches, is_torn });
    }
    found
}

/// Merges these and compares with the batches that they have, in the order of the study. Returns the text, if there
/// is one.
fn assert_merged(drawn: &Drawn, of: u64, found: &[Found<'_>], is_partial: bool) -> Option<String> {
    let paths: Vec<PathBuf> = found.iter().map(|it| it.path.clone()).collect();
    let mut output = Vec::new();
    let merged = merge(&paths, is_partial, &mut output);
    let mut batches: Vec<&Planned> = found.iter().flat_map(|it| it.batches.clone()).collect();
    batches.sort_by_key(|it| it.place);
    let is_prefix = batches.iter().zip(&drawn.planned).all(|(one, other)| one.place == other.place);
    let is_all = found.len() as u64 == of && is_prefix;
    let text = &drawn.model.study.text;
    if found.is_empty() || !(is_partial || is_all) {
        let told = merged.expect_err("something is missing").to_string();
        let about = ["missing", "no records are named", "is not where it belongs"];
        assert!(about.iter().any(|it| told.contains(it)), "{told}");
        return None;
    }
    let merged = merged.unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut shards: Vec<u64> = found.iter().map(|it| it.shard.number()).collect();
    shards.sort_unstable();
    let partial = is_partial.then_some(PartialHeader { shards, of });
    let header = StudyHeader { partial, ..drawn.header.clone() };
    assert_eq!(merged.header, header);
    let torn = found.iter().filter(|it| it.is_torn).map(|it| it.path.display().to_string());
    assert_eq!(merged.torn, torn.collect::<Vec<_>>(), "{text}");
    let lines: String = batches.iter().map(|it| line(it)).collect();
    let output = String::from_utf8(output).expect("JSON");
    assert!(output == serde_json::to_string(&header).expect("JSON") + "\n" + &lines, "{text}");
    Some(output)
}

#[test]
fn shards_merge_into_the_batches_that_they_have_and_these_add_up() {
    let (mut refused, mut torn, mut unfinished) = (0, 0, 0);
    for seed in 200..230 {
        let drawn = Drawn::of(seed);
        let mut stream = Stream::new(Seed(seed), "shards");
        let of = 1 + stream.below(5);
        let (is_spoilt, is_partial) = (stream.below(3) > 0, stream.below(2) == 0);
        let found = found(&drawn, &mut stream, of, is_spoilt);
        let Some(text) = assert_merged(&drawn, of, &found, is_partial) else {
            refused += 1;
            continue;
        };
        let mut batches: Vec<&Planned> = found.iter().flat_map(|it| it.batches.clone()).collect();
        batches.sort_by_key(|it| it.place);
        torn += u32::from(found.iter().any(|it| it.is_torn));
        unfinished += u32::from(batches.len() < drawn.planned.len());
        let path = drawn.folder.path().join("merged.jsonl");
        let is_torn = stream.below(2) == 0;
        fs::write(&path, text.clone() + if is_torn { "{\"ce" } else { "" }).expect("the folder is ours");
        let results = Results::read_file(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(results.is_torn, is_torn);
        assert_sums(&drawn.model, &batches, results);
        let mut records = Records::open(&path).expect("it can be read").expect("it has a header");
        while records.next_batch().expect("they are sound").is_some() {}
        assert_eq!((records.bytes_read(), records.is_torn()), (text.len() as u64, is_torn));
    }
    assert!(refused > 4 && torn > 4 && unfinished > 4, "{refused}, {torn} and {unfinished} of the merges");
}

/// Shards that no list could have: nobody goes through all of them.
#[test]
fn shards_beyond_counting_are_merged_at_once_or_said_to_be_missing() {
    let drawn = Drawn::of(250);
    let of = 100_000_000_000_000;
    let found = found(&drawn, &mut Stream::new(Seed(0), "shards"), of, false);
    assert!(found.len() > 3 && found.last().is_some_and(|it| !it.path.as_os_str().is_empty()));
    assert_eq!(assert_merged(&drawn, of, &found, false), None);
    let [one, ..] = &found[..] else { panic!("there are some") };
    let told = merge(from_ref(&one.path), false, &mut Vec::new()).expect_err("it is alone").to_string();
    assert!(
        told.contains("of 100000000000000 shards, some are missing: ") && told.contains("more\nhint: "),
        "{told}"
    );
    let first = if one.shard.number() == 1 { 2 } else { 1 };
    assert!(told.contains(&format!("`--shard {first}/{of}` makes one")), "{told}");
    assert!(assert_merged(&drawn, of, &found, true).is_some());
}
