//! Examples: for what was counted, one run each, made as small as it gets, with its picture.

use std::collections::BTreeMap;

use doublehold_sweeps::records::Example;
use doublehold_text::{capital, several};

use super::document::{Block, Figure, Line};
use super::model::PageModel;

pub(crate) fn examples(model: &PageModel<'_>) -> Vec<Block> {
    if model.examples.is_empty() {
        return Vec::new();
    }
    let lead = Line::from_text(
        "Of what was counted, one run each: looked for again through redis-rs, and made as small as it gets. \
         Commands are for the folder that this page was made from; with ",
    )
    .code("--timeline run.html")
    .text(
        " the second of an example writes its run as a page, where whatever is pointed at says what it is.",
    );
    let mut room = MOST_PICTURES;
    let all: Vec<Block> = model
        .examples
        .iter()
        .enumerate()
        .map(|(number, it)| example(model, (number, it), &mut room))
        .collect();
    let heading = Block::anchored("Examples", format!("examples-{}", model.part + 1));
    [heading, Block::Paragraph(lead)].into_iter().chain(all).collect()
}

/// So many bytes of pictures are put into a page at most: it is to be mailed.
const MOST_PICTURES: usize = 1_500_000;

/// An example, folded. Its picture is left out once there is no room for more.
fn example(model: &PageModel<'_>, (number, example): (usize, &Example), room: &mut usize) -> Block {
    let (predicate, anchor) = (example.predicate, model.anchor(number));
    let heading =
        Line::default().code(&example.design).text(format!(", {}: {}", predicate.as_str(), example.headline));
    let mut blocks = vec![Block::Paragraph(
        Line::from_text(format!("{}. ", capital(predicate.meaning()))).text(facts(model, example)),
    )];
    let account = example.why.as_deref().or(example.what_happened.as_deref());
    blocks.extend(account.map(|words| Block::text(format!("{}.", words.trim_end_matches('.')))));
    if example.svg.len() <= *room {
        *room -= example.svg.len();
        let caption = Line::from_text(format!("{}: the run, to scale.", example.headline));
        let panels = vec![(String::new(), example.svg.clone())];
        blocks.push(Block::Figure(Figure { name: anchor.clone(), panels, is_foreign: true, caption }));
    } else {
        blocks.push(Block::Paragraph(
            Line::from_text("This page has no room for the picture: the second command below draws it with ")
                .code("--timeline run.html")
                .text("."),
        ));
    }
    let sentence = |it: &doublehold_sweeps::records::TimedSentence| {
        Line::default().strong(&it.at).text(format!(" {}", it.words))
    };
    blocks.push(Block::details(
        Line::from_text("Step by step"),
        vec![Block::List(example.sentences.iter().map(sentence).collect())],
    ));
    blocks.push(Block::Code(format!("{}\n{}", example.replay, example.run)));
    blocks.push(Block::details(
        Line::from_text("The scenario's file"),
        vec![Block::Code(example.scenario.clone())],
    ));
    Block::Details { summary: heading, id: Some(anchor), blocks }
}

/// Where it is from, how sure it is, how small it was made.
fn facts(model: &PageModel<'_>, example: &Example) -> String {
    let values = model.values(example.cell / model.results.header.designs.len().max(1) as u64);
    let at =
        if values.is_empty() { String::new() } else { format!(" with {}", doublehold_text::list(&values)) };
    let seen = if example.real {
        "seen through redis-rs too"
    } else {
        "seen through a sweep's lean connections only: no seed that was tried shows it through redis-rs"
    };
    let [same, of] = example.others;
    let others = if of == 0 {
        String::new()
    } else {
        format!(" {same} of {} do the same.", several(of, "other seed"))
    };
    let smaller = smaller(&example.size.from, &example.size.to);
    format!("Found{at} from seed {}, {seen}.{others}{smaller}", example.seed)
}

fn smaller(from: &BTreeMap<String, u64>, to: &BTreeMap<String, u64>) -> String {
    let change = |(what, from): (&String, &u64)| {
        let to = to.get(what).copied().unwrap_or(0);
        let noun = what.trim_end_matches('s');
        if to == *from { several(to, noun) } else { format!("{} became {to}", several(*from, noun)) }
    };
    let changes: Vec<String> = from.iter().map(change).collect();
    if changes.is_empty() {
        return String::new();
    }
    format!(" Made small, {}.", doublehold_text::list(&changes))
}
