//! What was not modelled, and how to make the numbers again.

use doublehold_sweeps::study::bundled_studies;
use doublehold_sweeps::sweep::StudyHeader;
use doublehold_text::shell;

use super::document::{Block, Line};
use super::model::PageModel;

/// What a reader of the numbers must know that is not in them. The crates' own pages say more.
const NOT_MODELLED: &[&str] = &[
    "The nodes are simulated. They answer as Redis 7 does for everything that these locks send, which is compared with \
     a real Redis 7; persistence and replication keep Redis' rules, and not its file formats.",
    "Faults come one by one: lines of a weather know nothing of each other. A data centre that loses its power, or \
     clocks that are wrong together, has to be a scenario of its own.",
    "The rates of faults do not change with the time of day, with load, or after another fault.",
    "Networks keep the order of a connection's bytes; loss and cuts are delay until something gives up. Bandwidth and \
     congestion are not limited.",
    "A process that pauses stops as a whole. Threads of one process that stop each for themselves are not modelled.",
    "The resource that the lock protects loses nothing: it may be down, and what it has applied stays applied.",
    "What clients do between faults is the short program above, with the same few clients at the same lock. A fleet with \
     more of either, or with long idle times, meets faults in other moments.",
    "An overlap says that two clients held the lock. What that costs depends on what they do under it, which P3 and P4 \
     say for the program above only.",
];

pub(crate) fn not_modelled() -> Vec<Block> {
    vec![
        Block::anchored("What was not modelled", "not-modelled"),
        Block::List(NOT_MODELLED.iter().copied().map(Line::from_text).collect()),
    ]
}

/// The command that sweeps a study: one of the program's own by its name, and another by its file.
fn sweep(header: &StudyHeader) -> String {
    let name = &header.study;
    let file = format!("{name}.toml");
    let is_ready = bundled_studies().any(|known| known.name == name && known.text == header.text);
    let mut line = vec!["doublehold", "sweep"];
    line.extend(if is_ready { vec![name.as_str()] } else { vec![&file, "--out", name] });
    line.extend(header.other_engine().into_iter().flat_map(|engine| ["--engine", engine]));
    shell::line(line)
}

pub(crate) fn reproduce(models: &[PageModel<'_>]) -> Vec<Block> {
    let mut blocks = vec![
        Block::anchored("How to make these numbers again", "reproduce"),
        Block::text(
            "With the same version of doublehold, any machine and any number of threads come to the same records and the \
             same page. A study that does not come with the program is named by its file, which is below; weathers and \
             scenarios that it names by their files have to lie beside it.",
        ),
    ];
    let studies: Vec<&str> = models.iter().map(|model| model.results.header.study.as_str()).collect();
    let sweeps = models.iter().map(|model| sweep(&model.results.header));
    let report = shell::line(["doublehold", "report"].into_iter().chain(studies.iter().copied()));
    blocks.push(Block::Code(sweeps.chain([report]).collect::<Vec<_>>().join("\n")));
    blocks.extend(models.iter().map(|model| {
        let header = &model.results.header;
        let summary = Line::from_text("The study's file, ").code(format!("{}.toml", header.study));
        Block::details(summary, vec![Block::Code(header.text.clone())])
    }));
    blocks
}
