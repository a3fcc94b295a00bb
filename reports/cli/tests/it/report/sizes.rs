//! Large records: the page stays one that can be mailed.

use std::fs;
use std::time::Instant;

use doublehold_history::Predicate;
use doublehold_sweeps::sweep::Batch;

use crate::kit::Folder;
use crate::report::made::{batch, header};

/// What a page may have.
const MOST: u64 = 3_000_000;

/// A number that looks random, and is the same everywhere.
fn mixed(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn noisy(cell: u64, runs: u64) -> Batch {
    batch(cell, runs, |predicate| {
        let of = mixed(cell * 6 + predicate as u64);
        (if of.is_multiple_of(3) { 0 } else { of % (runs / 2) }, of % 2)
    })
}

fn values(count: usize, unit: &str) -> Vec<String> {
    (1..=count).map(|value| format!("{value}{unit}")).collect()
}

fn made(designs: usize, axes: &[(&str, usize, &str)], runs: u64) -> Folder {
    let names: Vec<String> = (0..designs).map(|design| format!("design {design}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all: Vec<(&str, Vec<String>)> =
        axes.iter().map(|(key, count, unit)| (*key, values(*count, unit))).collect();
    let words: Vec<(&str, Vec<&str>)> =
        all.iter().map(|(key, values)| (*key, values.iter().map(String::as_str).collect())).collect();
    let axes: Vec<(&str, &[&str])> = words.iter().map(|(key, values)| (*key, &values[..])).collect();
    let cells = axes.iter().fold(designs, |cells, (_, values)| cells * values.len());
    let folder = Folder::new();
    let batches: Vec<Batch> = (0..cells as u64).map(|cell| noisy(cell, runs)).collect();
    folder.records(&header(&names, &axes, runs), &batches);
    folder
}

#[test]
fn ten_thousand_cells_make_a_page_that_can_be_mailed() {
    for (designs, axes) in [
        (2, vec![("lock.ttl", 100, "ms"), ("work", 50, "s")]),
        (2, vec![("lock.ttl", 5_000, "ms")]),
        (10, vec![("lock.ttl", 10, "s"), ("work", 10, "s"), ("clients.count", 10, "")]),
    ] {
        let folder = made(designs, &axes, 40);
        let begin = Instant::now();
        folder.page();
        let took = begin.elapsed();
        let size = fs::metadata(folder.path("report.html")).expect("it was written").len();
        assert!(size < MOST, "{designs} designs over {axes:?}: {size} bytes");
        assert_eq!(folder.read("cells.csv").lines().count(), 10_001);
        // A debug build on a busy machine; released, it is some tenths of this.
        assert!(took.as_secs() < 60, "{took:?}");
    }
}

#[test]
fn sixty_designs_have_a_page() {
    let folder = made(60, &[("lock.ttl", 3, "s")], 60);
    let page = folder.page();
    assert!(page.len() < MOST as usize);
    assert!(
        page.contains("All 1,770 pairs")
            && page.contains("1,570 pairs of the last designs are left out")
            && page.contains("Of 60 designs, the first 10")
    );
}

#[test]
fn axes_of_words_and_of_one_value_have_plots() {
    let folder = Folder::new();
    let axes: [(&str, &[&str]); 3] =
        [("lock.clock", &["wall", "monotonic"]), ("lock.ttl", &["1s"]), ("x", &["0"])];
    let batches: Vec<Batch> = (0..4).map(|cell| noisy(cell, 100)).collect();
    folder.records(&header(&["a", "b"], &axes, 100), &batches);
    let page = folder.page();
    assert!(page.contains("monotonic"));
    let seen = |page: &str| page.matches("<svg").count();
    assert!(seen(&page) >= 5, "rates and lengths at both points, and the grid: {}", seen(&page));
    // Nothing seen anywhere: there is nothing to draw over the grid but what recovery takes.
    let silent: Vec<Batch> = (0..4).map(|cell| batch(cell, 100, |_: Predicate| (0, 0))).collect();
    folder.records(&header(&["a", "b"], &axes, 100), &silent);
    assert!(folder.page().contains("was not seen: at most"));
}
