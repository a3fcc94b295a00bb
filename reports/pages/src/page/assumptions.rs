//! What was assumed, in words: the study's sentences, the faults, the worlds, what each predicate means.

use doublehold_sweeps::sweep::{DesignHeader, StudyHeader, WeatherLine};
use doublehold_text::several;
use doublehold_text::{digits, rough};

use super::document::{Block, Entry, Line, Table};
use super::model::{COLUMNS, PageModel};
use super::rates::Figures;
use super::world::{self, World};

pub(crate) fn assumptions(model: &PageModel<'_>) -> Vec<Block> {
    let header = &model.results.header;
    let mut blocks =
        vec![Block::List(header.assumptions.iter().map(|it| Line::from_backticks(it)).collect())];
    blocks.retain(|block| !matches!(block, Block::List(lines) if lines.is_empty()));
    blocks
        .push(Block::details(Line::from_text("Faults, and where their numbers come from"), weathers(header)));
    blocks.push(Block::details(Line::from_text("Worlds"), worlds(header)));
    blocks.push(Block::details(Line::from_text("The rules that are counted"), counting_rules(model)));
    blocks
}

/// A table for each weather, and whom it is for.
fn weathers(header: &StudyHeader) -> Vec<Block> {
    let mut groups: Vec<(&DesignHeader, Vec<&str>)> = Vec::new();
    for design in &header.designs {
        let same = |(known, _): &&mut (&DesignHeader, Vec<&str>)| {
            known.weather == design.weather && known.strikes_for == design.strikes_for
        };
        match groups.iter_mut().find(same) {
            Some((_, names)) => names.push(&design.name),
            None => groups.push((design, vec![&design.name])),
        }
    }
    let is_one = groups.len() == 1;
    groups
        .iter()
        .flat_map(|(design, names)| weather(header, design, if is_one { &[] } else { names }))
        .collect()
}

fn weather(header: &StudyHeader, design: &DesignHeader, names: &[&str]) -> Vec<Block> {
    let of = |line: Line| if names.is_empty() { line } else { line.text(" (of ").codes(names).text(")") };
    if design.weather.is_empty() {
        return vec![Block::Paragraph(
            of(Line::from_text("No random faults")).text(": only those that the world's own file lists."),
        )];
    }
    let kinds = several(design.weather.len() as u64, "line");
    let grid =
        if header.axes.is_empty() { "" } else { " These are the values at the first point of the grid." };
    let line = of(Line::from_text(format!("Random faults, in {kinds},"))).text(format!(
        " strike for the first {} of each run. Each line strikes each of its hosts by itself, with this mean time \
         between two; one of links does so with each host of the side that has fewer. When, is drawn from the \
         seed. What begins in that time lasts as long as was drawn, also beyond it, unless the run ends first.{grid}",
        design.strikes_for
    ));
    let row = |line: &WeatherLine| {
        vec![
            Entry::line(Line::default().code(&line.kind)),
            Entry::from_text(every(&line.every)),
            Entry::from_text(world::fault_words(&line.rest)),
            Entry::from_text(&line.source),
        ]
    };
    let head =
        ["fault", "mean time between", "whom, for how long, how strongly", "where the numbers come from"];
    let table = Table {
        head: head.map(Entry::from_text).into(),
        rows: design.weather.iter().map(row).collect(),
        words: 4,
    };
    vec![Block::Paragraph(line), Block::Table(table)]
}

/// `2592000s` as `30 d`: files have no larger unit than the one that is exact.
fn every(text: &str) -> String {
    let whole = text.strip_suffix('s').and_then(|number| number.parse().ok());
    let hours = |length: f64| {
        let is_days = length % 86_400.0 == 0.0 && length >= 172_800.0;
        if is_days { rough(length) } else { format!("{} h", digits(length / 3_600.0)) }
    };
    whole.filter(|length| *length >= 7_200.0).map_or_else(|| text.to_owned(), hours)
}

/// What the worlds have in common in a sentence, and in a table what they have not.
fn worlds(header: &StudyHeader) -> Vec<Block> {
    const HEADS: [&str; 6] =
        ["nodes", "clients", "what each client does", "lease", "asks again after", "messages take"];
    let worlds: Vec<[String; 6]> =
        header.designs.iter().map(|design| World::from_toml(&design.world).facts()).collect();
    let is_same = |fact: usize| worlds.windows(2).all(|pair| pair[0][fact] == pair[1][fact]);
    let (same, differ): (Vec<usize>, Vec<usize>) = (0..HEADS.len()).partition(|fact| is_same(*fact));
    let mut blocks = Vec::new();
    if let Some(world) = worlds.first().filter(|_| !same.is_empty()) {
        let facts: Vec<String> = same
            .iter()
            .filter(|fact| !world[**fact].is_empty())
            .map(|fact| format!("{}: {}", HEADS[*fact], world[*fact]))
            .collect();
        let whose = if worlds.len() == 1 { "The world of this design" } else { "All designs have in common" };
        blocks.push(Block::text(format!("{whose}: {}.", facts.join("; "))));
    }
    let row = |(design, world): (&DesignHeader, &[String; 6])| {
        let name = Entry::line(Line::default().code(&design.name));
        let about = Entry::line(Line::from_backticks(&design.about));
        [name, about].into_iter().chain(differ.iter().map(|fact| Entry::from_text(&world[*fact]))).collect()
    };
    let head = ["design", "what it is"]
        .into_iter()
        .chain(differ.iter().map(|fact| HEADS[*fact]))
        .map(Entry::from_text);
    let rows = header.designs.iter().zip(&worlds).map(row).collect();
    blocks.push(Block::Table(Table { head: head.collect(), rows, words: HEADS.len() + 2 }));
    let file = |design: &DesignHeader| {
        Block::details(Line::default().code(&design.name), vec![Block::Code(design.world.clone())])
    };
    let files = header.designs.iter().map(file).collect();
    blocks.push(Block::details(Line::from_text("The whole worlds, as scenario files"), files));
    blocks
}

fn counting_rules(model: &PageModel<'_>) -> Vec<Block> {
    let meaning = |it: &doublehold_history::Predicate| {
        Line::default().strong(format!("{}, {}: ", it.as_str(), it.name())).text(format!("{}.", it.meaning()))
    };
    let cells = || model.cells.values().filter(|cell| cell.runs > 0);
    let grants = mean(cells().filter_map(Figures::mean_grants)).map(digits);
    let hours = mean(cells().filter_map(Figures::mean_hours)).map(|hours| rough(hours * 3_600.0));
    let exposure = match grants.zip(hours) {
        Some((grants, hours)) => format!(
            "{grants} granted calls and {hours} of simulated time from the first request to the last release, over all \
             cells"
        ),
        None => "how much that is, was not seen in enough of the runs to say".to_owned(),
    };
    let exact = if model.results.is_divided() {
        ""
    } else {
        " (Wilson's; the exact one shows where you point at a rate)"
    };
    let text = format!(
        "A rate is the share of runs that violate the predicate at least once. Undecided runs count both ways: the \
         low end of an interval is as if they all held, the high end as if they all violated it; the number between is \
         of those that decided, and is stated where the others are at most a tenth of those that violate it, or of \
         those that hold if they are fewer. Per granted call and per hour of operation it is divided by what a run of \
         that cell has of those on average: \
         {exposure}. Rates have 95 % intervals{exact}. Where nothing was seen, the rate is at most the bound that is \
         given, 19 times in 20. Many intervals are shown, and one in twenty misses. \
         Medians are of six or more, 99 % of a hundred or more; fewer are told by their number, since their quantiles \
         would be the longest and the shortest of them."
    );
    vec![Block::List(COLUMNS.iter().map(meaning).collect()), Block::text(text)]
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}
