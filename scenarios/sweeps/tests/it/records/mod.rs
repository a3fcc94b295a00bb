//! Records of any study, of any shards in any order, with made-up counts: what was written is read, gone on with and
//! merged as a study says in which every batch is written out (`written`, `sums`). Here: what is refused, and with
//! which words.

mod sums;
mod written;

use std::path::PathBuf;

use doublehold_scenarios::LeanEngine;
use doublehold_sweeps::records::{Journal, Records, file_name, files_in, merge};
use doublehold_sweeps::study::Study;
use doublehold_sweeps::sweep::{Batch, HandOut, Order, PartialHeader, Shard, StudyHeader};

use crate::shards::model;

fn study(designs: usize, values: &[usize], runs: u64, (strata, by_weight): (u32, u64)) -> Study {
    let mut text = format!("question = \"?\"\nweather = \"pauses-only\"\nruns = {runs}\n");
    if strata > 0 {
        text += &format!("[strata]\nby = \"kind\"\nfaults = {strata}\nby_weight = {by_weight}\n");
    }
    for design in 0..designs {
        text += &format!("[[designs]]\nname = \"{design}\"\nlock = \"single\"\n");
    }
    let keys = ["\"lock.ttl\"", "\"clients.retry\""];
    for (axis, (key, count)) in keys.iter().zip(values).enumerate() {
        let values: Vec<String> = (1..=*count).map(|value| format!("\"{value}s\"")).collect();
        let head = if axis == 0 { "[grid]\n" } else { "" };
        text += &format!("{head}{key} = [{}]\n", values.join(", "));
    }
    Study::parse("made-up", "made-up.toml", &text).expect("a study")
}

/// Writes what a shard would, with counts that depend on nothing but the batch.
fn write(folder: &std::path::Path, study: &Study, header: &StudyHeader, shard: Shard) -> PathBuf {
    let path = folder.join(file_name(shard));
    let header = StudyHeader { shard: [shard.number(), shard.total()], ..header.clone() };
    let mut order = Order::from_study(study, shard, |_| false);
    let (mut journal, begun) = Journal::open(&path, &header, &mut order).expect("a new file");
    assert_eq!(begun.runs, 0);
    while let HandOut::Run(unit) = order.hand_out() {
        // Of a cell that does not divide it, what cannot come has no runs.
        let weight = if unit.of == 0 { 0.0 } else { 1.0 / study.parts() as f64 };
        let (weight, planned) =
            (study.strata.as_ref().map(|_| weight), study.strata.as_ref().map(|_| unit.of));
        let (cell, stratum, batch) = (unit.cell.0, unit.stratum, unit.batch);
        let seed = header.first_seed(stratum, batch).expect("a seed");
        let batch =
            Batch { cell, stratum, batch, seed, runs: unit.runs, weight, planned, ..Batch::default() };
        journal.add(&batch).expect("it is ours");
        order.add_batch(&batch);
    }
    path
}

/// A change to a header, the cause that is told of it, and the way out.
type Difference = (fn(&mut StudyHeader), String, &'static str);

fn differences(program: &str, first: &str) -> [Difference; 10] {
    [
        (
            |it| it.program = "9.9.9".to_owned(),
            format!("the program's version is `9.9.9` in it and `{}` in `{first}`", program),
            "sweep with one version of doublehold",
        ),
        (
            |it| it.engine = "turmoil".to_owned(),
            format!("the engine is `turmoil` in it and `sim, lean connections` in `{first}`"),
            "sweep with one engine",
        ),
        (
            |it| it.text = it.text.replace("pauses-only", "calm"),
            format!(
                "the study's text differs: line 2 is `weather = \"calm\"` in it and `weather = \"pauses-only\"` in `{first}`"
            ),
            "sweep one text of the study",
        ),
        (
            |it| it.text += "# more",
            format!("the study's text differs: line 12 is `# more` in it and `` in `{first}`"),
            "sweep one text of the study",
        ),
        (
            |it| it.study = "other".to_owned(),
            format!("the study's name is `other` in it and `made-up` in `{first}`"),
            "a study is named after its file",
        ),
        (
            |it| it.fingerprint[3] = "0".to_owned(),
            format!("the same seeds give other runs of design `1` than in `{first}`"),
            "sweep with the same files and the same program",
        ),
        (
            |it| it.fingerprint.iter_mut().for_each(|hash| *hash = "0".to_owned()),
            format!("the same seeds give other runs of design `0` than in `{first}`"),
            "sweep with the same files and the same program",
        ),
        (
            |it| it.designs.iter_mut().for_each(|design| design.world += "# more"),
            format!("the world of design `0` is another than in `{first}`"),
            "the study names a file that has changed",
        ),
        (
            |it| it.designs[0].world += "# more",
            format!("the world of design `0` is another than in `{first}`"),
            "the study names a file that has changed",
        ),
        (
            |it| it.strata.push([("pause".to_owned(), 1)].into()),
            format!("its runs are divided into other strata than in `{first}`: 2, and 1"),
            "an older program divided runs by kind of fault",
        ),
    ]
}

#[test]
fn shards_of_two_studies_are_refused_with_what_differs() {
    let study = study(2, &[2], 600, (0, 0));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let shard = |number| Shard::new(number, 2).expect("a shard");
    let one = write(folder.path(), &study, &header, shard(1));
    let told = |change: fn(&mut StudyHeader)| {
        let mut other = header.clone();
        change(&mut other);
        let two = folder.path().join(file_name(shard(2)));
        std::fs::remove_file(&two).unwrap_or_default();
        let two = write(folder.path(), &study, &other, shard(2));
        merge(&[one.clone(), two], false, &mut Vec::new()).expect_err("they differ").to_string()
    };
    let first = one.display();
    for (change, cause, hint) in differences(&header.program, &first.to_string()) {
        let told = told(change);
        assert!(
            told.starts_with("cannot use the records `") && told.contains("runs.2-of-2.jsonl`: "),
            "{told}"
        );
        assert!(told.contains(&cause), "not {cause}, but {told}");
        assert!(told.contains(&format!("\nhint: {hint}")), "not {hint}, but {told}");
    }
}

#[test]
fn what_is_missing_is_refused_or_said() {
    let study = study(1, &[2], 2_000, (0, 0));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let shards =
        [1, 2].map(|number| write(folder.path(), &study, &header, Shard::new(number, 2).expect("a shard")));
    let merged = |files: &[PathBuf], is_partial| {
        let mut text = Vec::new();
        merge(files, is_partial, &mut text).map(|merged| (merged.header, text)).map_err(|it| it.to_string())
    };
    let (_, all) = merged(&shards, false).expect("these are all shards");
    // The first shard has one batch of its four: the second of the study is there, and the third is not.
    let text = std::fs::read_to_string(&shards[0]).expect("it was written");
    std::fs::write(&shards[0], text.split_inclusive('\n').take(2).collect::<String>()).expect("it is ours");
    let told = merged(&shards, false).expect_err("a batch is missing");
    assert!(
        told.contains("runs.2-of-2.jsonl`: line 3: batches are missing before batch 3 of cell 0"),
        "{told}"
    );
    assert!(told.contains("hint: go on with each shard (`--shard I/N`) and merge them again"), "{told}");
    let whole = folder.path().join(file_name(Shard::WHOLE));
    let go_on = |text: &[u8]| {
        std::fs::write(&whole, text).expect("the folder is ours");
        let mut order = Order::from_study(&study, Shard::WHOLE, |_| false);
        Journal::open(&whole, &header, &mut order).err().map(|error| error.to_string())
    };
    // Taken as it is, it says so, and no sweep goes on with it.
    for (files, has) in [(&shards[..], vec![1, 2]), (&shards[1..], vec![2])] {
        let (header, text) = merged(files, true).expect("it may be partial");
        assert_eq!(header.partial, Some(PartialHeader { shards: has, of: 2 }));
        let told = go_on(&text).expect("it is refused");
        assert!(told.contains("they are a part of a study, merged with `--partial`"), "{told}");
        assert_eq!(
            Records::open(&whole).expect("it can be read").expect("it has a header").header(),
            &header
        );
    }
    assert_eq!(go_on(&all), None);
}

#[test]
fn one_batch_is_not_counted_from_two_shards() {
    let study = study(1, &[], 2_000, (0, 0));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let files =
        [1, 2].map(|number| write(folder.path(), &study, &header, Shard::new(number, 2).expect("a shard")));
    let [one, two] = files.each_ref().map(|file| std::fs::read_to_string(file).expect("it was written"));
    let stolen = one.split_inclusive('\n').nth(1).expect("a batch");
    let head = two.split_inclusive('\n').next().expect("a header");
    std::fs::write(&files[1], head.to_owned() + stolen + &two[head.len()..]).expect("it is ours");
    let told = merge(&files, false, &mut Vec::new()).expect_err("it is there twice").to_string();
    assert!(told.contains("runs.2-of-2.jsonl`: the batch 0 of cell 0 is in it and in `"), "{told}");
}

/// Of one design there are two hashes: at the beginning of the grid, and at its end.
#[test]
fn other_runs_at_the_end_of_a_grid_are_those_of_the_only_design() {
    let study = study(1, &[2], 600, (0, 0));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let shard = |number| Shard::new(number, 2).expect("a shard");
    let mut other = header.clone();
    other.fingerprint[1] = "0".to_owned();
    assert_eq!(other.fingerprint.len(), 2);
    let files =
        [write(folder.path(), &study, &header, shard(1)), write(folder.path(), &study, &other, shard(2))];
    let told = merge(&files, false, &mut Vec::new()).expect_err("they differ").to_string();
    assert!(told.contains("the same seeds give other runs of design `0`"), "{told}");
}

/// Records of before there were strata by line: their text says nothing of what they are divided by.
#[test]
fn records_that_are_divided_by_kind_and_do_not_say_so_are_merged() {
    let study = study(2, &[], 700, (2, 900));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let text = header.text.replace("by = \"kind\"\n", "");
    assert!(text.len() < header.text.len());
    let header = StudyHeader { text, ..header };
    let folder = tempfile::tempdir().expect("a temporary directory");
    let [whole, one, two] = [(1, 1), (1, 2), (2, 2)]
        .map(|(number, of)| write(folder.path(), &study, &header, Shard::new(number, of).expect("a shard")));
    let mut merged = Vec::new();
    merge(&[one, two], false, &mut merged).expect("they are of one sweep");
    assert_eq!(merged, std::fs::read(&whole).expect("it was written"));
    let records = Records::open(&whole).expect("it can be read").expect("it is there");
    assert_eq!(records.header().strata[1], [("pause".to_owned(), 1)].into());
}

/// Each shard has one stratum of the two, and only the merge sees both.
#[test]
fn strata_that_weigh_too_much_or_too_little_together_are_refused() {
    let study = study(1, &[], 400, (1, 1));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let folder = tempfile::tempdir().expect("a temporary directory");
    let told = |weight: &str| {
        let files = [1, 2].map(|number| {
            let shard = Shard::new(number, 2).expect("a shard");
            let _ = std::fs::remove_file(folder.path().join(file_name(shard)));
            let path = write(folder.path(), &study, &header, shard);
            let text = std::fs::read_to_string(&path).expect("it was written");
            assert_eq!(text.matches("\"weight\":0.5,").count(), 1);
            let text = text.replace("\"weight\":0.5,", &format!("\"weight\":{weight},"));
            std::fs::write(&path, text).expect("it is ours");
            path
        });
        merge(&files, false, &mut Vec::new()).err().map(|it| it.to_string())
    };
    assert_eq!(told("0.5"), None);
    for (weight, than) in [("0.6", "more"), ("0.4", "less")] {
        let told = told(weight).expect("it is refused");
        assert!(told.contains(&format!("the strata of cell 0 weigh {than} than all runs do")), "{told}");
    }
}

/// A folder lists its files in any order.
#[test]
fn the_records_of_a_folder_come_in_the_order_of_their_names() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let mut names: Vec<PathBuf> = [3, 1, 7, 9, 2, 8, 5, 6, 4]
        .map(|number| folder.path().join(file_name(Shard::new(number, 9).expect("a shard"))))
        .to_vec();
    for name in &names {
        std::fs::write(name, "").expect("the folder is ours");
    }
    std::fs::write(folder.path().join("examples.jsonl"), "").expect("the folder is ours");
    names.sort();
    assert_eq!(files_in(folder.path()).expect("there are some"), names);
}

#[test]
fn what_is_no_set_of_shards_is_refused_by_file() {
    let study = study(1, &[], 600, (0, 0));
    let header = StudyHeader::new(&LeanEngine, &study, Shard::WHOLE).expect("it can be run");
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a temporary directory"));
    let file = |folder: usize, number, of| {
        write(folders[folder].path(), &study, &header, Shard::new(number, of).expect("a shard"))
    };
    let (one, two, twin) = (file(0, 1, 2), file(0, 2, 2), file(1, 1, 2));
    let (third, whole) = (file(0, 3, 3), file(0, 1, 1));
    let refusals: [(Vec<&PathBuf>, &PathBuf, String, &str); 6] = [
        (
            vec![&one],
            &one,
            "of 2 shards, one is missing: 2".to_owned(),
            "name them too; `--shard 2/2` makes one",
        ),
        (
            vec![&one, &two, &twin],
            &twin,
            format!("they are shard 1 of 2, and so is `{}`", one.display()),
            "name each shard once",
        ),
        (vec![&one, &two, &one], &one, "it is named twice".to_owned(), "name each file once"),
        (
            vec![&one, &third],
            &third,
            format!("they are shard 3 of 3, and `{}` is one of 2", one.display()),
            "merge shards of one number of shards",
        ),
        (
            vec![&one, &whole],
            &whole,
            "they are of a whole study, and of no shard".to_owned(),
            "leave the file out",
        ),
        (
            vec![&whole, &one],
            &whole,
            "they are of a whole study, and of no shard".to_owned(),
            "leave the file out",
        ),
    ];
    for (files, named, cause, hint) in refusals {
        let files: Vec<PathBuf> = files.into_iter().cloned().collect();
        let told = merge(&files, false, &mut Vec::new()).expect_err("it is refused").to_string();
        let said = format!("cannot use the records `{}`: {cause}\nhint: {hint}", named.display());
        assert!(told.starts_with(&said), "not {said}, but {told}");
    }
}
