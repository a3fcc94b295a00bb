//! Which plots a sweep gets, and what stands below them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use doublehold_history::Predicate;
use doublehold_statistics::{Reason, Unsupported};
use doublehold_sweeps::sweep::AxisHeader;

use super::distribution::{Distribution, FEWEST};
use super::document::{Block, Figure, Line};
use super::drift;
use super::measure::{Measure, UnitRate};
use super::model::{COLUMNS, PageModel};
use super::outcome;
use super::parameter;
use super::rates::{Figures, Rate};
use crate::plots::{self, Bar};

/// More lines than this nobody can tell apart.
const LINES: usize = 10;
/// So many cells of heat maps are drawn at most: a page is to be mailed.
const SHADED: usize = 20_000;
/// So many of a design's cells show safety against recovery: more would cover each other.
const DOTS: usize = 40;

/// The picture beside the answer: what is asked first, and what it costs, for as many designs as fit.
pub(crate) fn first_picture(model: &PageModel<'_>, point: u64) -> Block {
    forests(model, point, "first", &FIRST)
}

/// The rules of the first picture.
const FIRST: [Predicate; 2] = [Predicate::P1, Predicate::P4];

/// The rates of the other rules at one point, and how long overlaps are there.
pub(crate) fn point_pictures(model: &PageModel<'_>, point: u64) -> Vec<Block> {
    let others: Vec<Predicate> = COLUMNS.into_iter().filter(|it| !FIRST.contains(it)).collect();
    [Some(forests(model, point, "others", &others)), lengths(model, point)].into_iter().flatten().collect()
}

/// The same on request; of a grid with the rules that stand first.
pub(crate) fn folded(model: &PageModel<'_>, point: u64, is_grid: bool) -> Block {
    let first = is_grid.then(|| first_picture(model, point));
    let blocks = first.into_iter().chain(point_pictures(model, point)).collect();
    Block::details(Line::from_text("Pictures of these rates, and of how long overlaps are"), blocks)
}

/// The fields of a grid that stand beside the answer.
const FIRST_FIELDS: usize = 2;

/// The picture beside the answer of a grid: of what is asked first, and of two designs where these have fields.
pub(crate) fn first_grid_picture(model: &PageModel<'_>) -> Option<Block> {
    match varied_axes(model)[..] {
        [] => None,
        [axis] => curves(model, axis, ("first-curves", &first_rules(model))),
        [across, up, ..] => heat(model, (across, up), ("first-heat", 0..FIRST_FIELDS)),
    }
}

/// The rules of the first picture of which anything was seen; all that were seen if none of these was.
fn first_rules(model: &PageModel<'_>) -> Vec<Predicate> {
    let seen = seen_predicates(model);
    let first: Vec<Predicate> = seen.iter().copied().filter(|it| FIRST.contains(it)).collect();
    if first.is_empty() { seen } else { first }
}

/// The other pictures of a grid.
pub(crate) fn grid_pictures(model: &PageModel<'_>) -> Vec<Block> {
    let varied = varied_axes(model);
    let first = first_rules(model);
    let others: Vec<Predicate> =
        seen_predicates(model).into_iter().filter(|it| !first.contains(it)).collect();
    let over = match varied[..] {
        [] => None,
        [axis] => curves(model, axis, ("curves", &others)),
        [across, up, ..] => heat(model, (across, up), ("heat", FIRST_FIELDS..usize::MAX)),
    };
    over.into_iter().chain(tradeoff(model, varied.first().copied())).collect()
}

/// The axes that have more than one value.
fn varied_axes(model: &PageModel<'_>) -> Vec<usize> {
    let axes = model.results.header.axes.iter().enumerate();
    axes.filter(|(_, axis)| axis.values.len() > 1).map(|(number, _)| number).collect()
}

fn bar(rate: &Rate) -> Option<Bar> {
    rate.high().map(|high| Bar { value: rate.stated_rate(), low: rate.low(), high })
}

/// The same in the page's unit.
fn told_bar(told: &UnitRate) -> Option<Bar> {
    match told {
        Ok(it) => Some(Bar { value: Some(it.value), low: it.interval.low, high: it.interval.high }),
        Err(Unsupported { reason: Reason::Undecided { interval, .. }, .. }) => {
            Some(Bar { value: None, low: interval.low, high: interval.high })
        }
        Err(Unsupported { at_most, .. }) => at_most.map(|high| Bar { value: None, low: 0.0, high }),
    }
}

fn title(predicate: Predicate) -> String {
    format!("{}: {}", predicate.as_str(), outcome::heading(predicate))
}

fn figure(model: &PageModel<'_>, name: &str, panels: Vec<(String, String)>, caption: Line) -> Block {
    let name = format!("{name}-{}", model.part + 1);
    Block::Figure(Figure { name, panels, is_foreign: false, caption })
}

/// Panels by their numbers; the legend is the last one.
fn number_panels(panels: Vec<String>) -> Vec<(String, String)> {
    panels.into_iter().enumerate().map(|(number, svg)| ((number + 1).to_string(), svg)).collect()
}

/// The designs that plots with lines show: the first of the study.
fn plotted_designs(model: &PageModel<'_>) -> Vec<usize> {
    model.at(model.points[0]).map(|cell| cell.design).take(LINES).collect()
}

fn name_designs(model: &PageModel<'_>, designs: &[usize]) -> Vec<(usize, String)> {
    designs.iter().map(|design| (*design, model.name(*design).to_owned())).collect()
}

/// Says that some are left out.
fn but(model: &PageModel<'_>, designs: &[usize]) -> String {
    let all = model.results.header.designs.len();
    if designs.len() == all {
        return String::new();
    }
    format!(" Of {all} designs, the first {} are shown.", designs.len())
}

/// Cells with these axes free, and all others at the first of their values that has runs.
fn slice<'a>(model: &'a PageModel<'_>, free: &'a [usize]) -> impl Iterator<Item = &'a Figures> {
    let first = model.at(model.points[0]).next().map(|cell| cell.place.clone()).unwrap_or_default();
    let is_in = move |cell: &&Figures| {
        let mut places = cell.place.iter().zip(&first).enumerate();
        cell.runs > 0 && places.all(|(axis, (place, first))| free.contains(&axis) || place == first)
    };
    model.cells.values().filter(is_in)
}

/// Where the other axes are held, in words.
fn fixed_axes(model: &PageModel<'_>, free: &[usize]) -> Line {
    let header = &model.results.header;
    let place = model.at(model.points[0]).next().map(|cell| cell.place.clone()).unwrap_or_default();
    let fixed: Vec<String> = header
        .axes
        .iter()
        .zip(&place)
        .enumerate()
        .filter(|(number, (axis, _))| !free.contains(number) && axis.values.len() > 1)
        .map(|(_, (axis, place))| format!("{} = {}", axis.key, axis.values[*place]))
        .collect();
    if fixed.is_empty() {
        return Line::default();
    }
    Line::from_text(" Here ")
        .codes(&fixed.iter().map(String::as_str).collect::<Vec<_>>())
        .text("; the other values are in cells.csv.")
}

/// A forest plot for each of these rules.
fn forests(model: &PageModel<'_>, point: u64, name: &str, rules: &[Predicate]) -> Block {
    let cells: Vec<&Figures> = model.at(point).collect();
    let names: Vec<&str> = cells.iter().map(|cell| model.name(cell.design)).collect();
    let shown = plots::rows_that_fit(&names).min(cells.len());
    let panel = |predicate: &Predicate| {
        let letters = model.letters(point, *predicate);
        let row = |(cell, letters): (&&Figures, Option<String>)| plots::Row {
            design: cell.design,
            name: model.name(cell.design).to_owned(),
            bar: told_bar(&model.measure.rate(cell, *predicate)),
            letters: letters.unwrap_or_default(),
        };
        let svg = plots::forest(&plots::Forest {
            title: title(*predicate),
            axis: model.measure.axis().to_owned(),
            quantity: quantity(model),
            rows: cells[..shown].iter().zip(letters).map(row).collect(),
        });
        (predicate.as_str().to_owned(), svg)
    };
    let caption = Line::from_text(
        "Rates with 95 % intervals, on an axis of powers of ten; an arrow comes from the most that it can be. Designs that \
         share a letter are not told apart.",
    );
    let more = cells.len() - shown;
    let caption =
        if more == 0 { caption } else { caption.text(format!(" {more} more designs are in the tables.")) };
    figure(model, &format!("{name}-{}", point + 1), rules.iter().map(panel).collect(), caption)
}

/// The quantity of the page's unit.
fn quantity(model: &PageModel<'_>) -> plots::Quantity {
    match model.measure {
        Measure::Months(_) => plots::Quantity::Number,
        _ => plots::Quantity::Share,
    }
}

/// A tornado chart for each of these rules that has rows, with the widest bar at the top.
pub(crate) fn tornadoes(
    model: &PageModel<'_>,
    rules: Vec<(Predicate, Vec<plots::TornadoRow>)>,
    caption: Line,
) -> Option<Block> {
    let panel = |(predicate, mut rows): (Predicate, Vec<plots::TornadoRow>)| {
        rows.sort_by(|one, other| other.width().total_cmp(&one.width()));
        let svg = plots::tornado(&plots::Tornado {
            title: title(predicate),
            axis: model.measure.axis().to_owned(),
            quantity: quantity(model),
            rows,
        });
        (predicate.as_str().to_owned(), svg)
    };
    let panels: Vec<_> = rules.into_iter().filter(|(_, rows)| !rows.is_empty()).map(panel).collect();
    (!panels.is_empty()).then(|| figure(model, "guesses", panels, caption))
}

/// How long overlaps are, where there are any.
fn lengths(model: &PageModel<'_>, point: u64) -> Option<Block> {
    let cells: Vec<&Figures> = model.at(point).collect();
    let shown = &cells[..cells.len().min(LINES)];
    let of = |predicate: Predicate| {
        let some = shown.iter().filter_map(|cell| Some((cell.design, cell.overlaps.get(&predicate)?)));
        let some = some.filter(|(_, spread)| spread.effective() >= FEWEST);
        let distribution = |(design, spread): (usize, &Distribution)| plots::DistributionCurve {
            design,
            effective: spread.effective(),
            steps: spread.steps(),
        };
        (title(predicate), some.map(distribution).collect::<Vec<_>>())
    };
    let panels: Vec<_> =
        [Predicate::P2, Predicate::P1].map(of).into_iter().filter(|(_, it)| !it.is_empty()).collect();
    if panels.is_empty() {
        return None;
    }
    let designs: Vec<usize> = shown.iter().map(|cell| cell.design).collect();
    let svg = plots::lengths(&plots::Lengths { designs: name_designs(model, &designs), panels });
    let caption = Line::from_text(
        "How long two clients held the lock at once. A sign stands at each design's median, with its error bar. \
         Bars, and the bands that few designs have, hold 19 times in 20 if overlaps came one by one; several of one \
         run come together, so that they are rather too narrow. Fewer than six overlaps have no line.",
    )
    .text(but(model, &designs));
    Some(figure(model, &format!("lengths-{}", point + 1), number_panels(svg), caption))
}

/// The predicates of which anything was seen, anywhere.
fn seen_predicates(model: &PageModel<'_>) -> Vec<Predicate> {
    let is_seen = |it: &Predicate| model.cells.values().any(|cell| cell.rate(*it).violated > 0);
    COLUMNS.into_iter().filter(is_seen).collect()
}

/// Says which predicates have no panel.
fn unseen_remark(model: &PageModel<'_>) -> String {
    let seen = seen_predicates(model);
    let others: Vec<&str> = COLUMNS.iter().filter(|it| !seen.contains(it)).map(|it| it.as_str()).collect();
    let list = doublehold_text::list(&others);
    if others.is_empty() { String::new() } else { format!(" Of {list} no violation was seen anywhere.") }
}

/// Rates over an axis under these rules, as a picture with this name.
fn curves(model: &PageModel<'_>, free: usize, (name, rules): (&str, &[Predicate])) -> Option<Block> {
    let axis = &model.results.header.axes[free];
    let designs = plotted_designs(model);
    let course = |design: &usize, predicate: Predicate| {
        // Every other axis has one value, so that cells come in the order of this one's.
        let cells = model.cells.values().filter(|cell| cell.design == *design && cell.runs > 0);
        let rates = cells.filter_map(|cell| Some((cell.place[free], bar(&cell.rate(predicate))?)));
        plots::Course { design: *design, rates: rates.collect() }
    };
    let panel = |it: Predicate| (title(it), designs.iter().map(|design| course(design, it)).collect());
    let plot = plots::Curves {
        parameter: axis.key.clone(),
        values: parameter::values(&axis.values),
        designs: name_designs(model, &designs),
        panels: rules.iter().copied().map(panel).collect(),
    };
    if plot.panels.is_empty() {
        return None;
    }
    let caption = Line::from_text("Rates by run over ").code(&axis.key).text(
        ", with 95 % intervals. Where no number is stated there is a bar without a sign, and the line has a gap.",
    );
    let caption = caption.text(unseen_remark(model)).text(but(model, &designs));
    Some(figure(model, name, number_panels(plots::curves(&plot)), caption))
}

/// An axis of a map: which of its values are drawn, and where.
struct DrawnAxis {
    number: usize,
    header: AxisHeader,
    places: BTreeMap<usize, usize>,
}

/// All values of an axis; of a map that is larger than is drawn, those that have runs: a study may have a hundred
/// million points, and its records a few.
fn drawn_values(model: &PageModel<'_>, (across, up): (usize, usize), number: usize) -> DrawnAxis {
    let axes = &model.results.header.axes;
    let count = |axis: usize| axes[axis].values.len();
    let of_runs = || slice(model, &[across, up]).map(|cell| cell.place[number]).collect::<BTreeSet<_>>();
    let is_small = count(across).saturating_mul(count(up)) <= SHADED;
    let shown = if is_small { (0..count(number)).collect() } else { of_runs() };
    let values = shown.iter().map(|value| axes[number].values[*value].clone()).collect();
    let header = AxisHeader { key: axes[number].key.clone(), values };
    DrawnAxis { number, header, places: shown.into_iter().zip(0..).collect() }
}

/// Rates over two axes, as a picture with this name of these fields.
fn heat(
    model: &PageModel<'_>,
    (across, up): (usize, usize),
    (name, shown): (&str, Range<usize>),
) -> Option<Block> {
    let [across, up] = [across, up].map(|axis| drawn_values(model, (across, up), axis));
    let axes = [&across.header, &up.header];
    let (columns, rows) = (axes[0].values.len(), axes[1].values.len());
    let designs = plotted_designs(model);
    let most = (SHADED / (columns * rows)).max(1).min(shown.len());
    let all: Vec<(Predicate, usize)> = seen_predicates(model)
        .into_iter()
        .flat_map(|it| designs.iter().map(move |design| (it, *design)))
        .collect();
    let field = |(predicate, design): &(Predicate, usize)| {
        let mut rates = vec![None; columns * rows];
        for cell in slice(model, &[across.number, up.number]).filter(|cell| cell.design == *design) {
            let places =
                across.places.get(&cell.place[across.number]).zip(up.places.get(&cell.place[up.number]));
            let Some((column, row)) = places else { continue };
            rates[row * columns + column] = cell.rate(*predicate).stated_rate();
        }
        plots::Shaded {
            title: format!("{}: {}", predicate.as_str(), model.name(*design)),
            rates,
            line: drift::line(&model.results.header.designs[*design], axes[0], axes[1]),
        }
    };
    let plot = plots::Heat {
        across: (axes[0].key.clone(), axes[0].values.clone()),
        up: (axes[1].key.clone(), axes[1].values.clone()),
        fields: all.iter().skip(shown.start).take(most).map(field).collect(),
    };
    if plot.fields.is_empty() {
        return None;
    }
    let mut caption = Line::from_text("Rates by run over ")
        .codes(&[&axes[0].key, &axes[1].key])
        .text(
            ", in per cent where there is room. The thick line is where the rate leaves zero. The number of runs of a cell \
             bounds what zero means; intervals are in cells.csv.",
        )
        .text(unseen_remark(model))
        .text(but(model, &designs))
        .then(fixed_axes(model, &[across.number, up.number]));
    if plot.fields.iter().any(|field| field.line.is_some()) {
        caption = caption.text(
            " The dashed line is where the lock's allowance for drift is used up, by the formula: below it no lease is \
             counted too long.",
        );
    }
    if all.len() > shown.start + most && shown.start > 0 {
        caption = caption.text(format!(
            " Of {} such fields the first {} are shown: the others are in cells.csv.",
            all.len(),
            shown.start + most
        ));
    }
    Some(figure(model, name, number_panels(plots::heat(&plot)), caption))
}

/// What safety costs in recovery, where holders died.
fn tradeoff(model: &PageModel<'_>, along: Option<usize>) -> Option<Block> {
    let free: Vec<usize> = along.into_iter().collect();
    let designs = plotted_designs(model);
    let dot = |cell: &Figures| {
        let (mean, error) = cell.recovered.mean().zip(cell.recovered.mean_error())?;
        let across = Bar { value: Some(mean), low: (mean - error).max(0.0), high: mean + error };
        let word = along
            .map_or(String::new(), |axis| model.results.header.axes[axis].values[cell.place[axis]].clone());
        Some((plots::Dot { across, up: bar(&cell.rate(Predicate::P3))? }, word))
    };
    let line = |design: &usize| {
        let cells: Vec<_> =
            slice(model, &free).filter(|cell| cell.design == *design).filter_map(dot).collect();
        let every = cells.len().div_ceil(DOTS).max(1);
        (*design, cells.into_iter().step_by(every).collect::<Vec<_>>())
    };
    let lines: Vec<_> = designs.iter().map(line).filter(|(_, dots)| !dots.is_empty()).collect();
    if lines.is_empty() {
        return None;
    }
    let plot = plots::Tradeoff {
        left: format!("share of runs with {}", title(Predicate::P3)),
        designs: name_designs(model, &lines.iter().map(|(design, _)| *design).collect::<Vec<_>>()),
        lines,
    };
    let caption = Line::from_text(
        "Safety against recovery: how often a late write is applied, and how long others ask in vain after a holder \
         died. Further down is safer, further left recovers sooner. Both have 95 % intervals",
    );
    let caption = match along {
        None => caption.text("."),
        Some(axis) => caption
            .text("; a line goes along ")
            .code(&model.results.header.axes[axis].key)
            .text(", whose values stand at the signs."),
    };
    let is_thinned = along.is_some_and(|axis| model.results.header.axes[axis].values.len() > DOTS);
    let thinned = if is_thinned { " Of many values only some are shown." } else { "" };
    let caption = caption.text(thinned).text(but(model, &designs)).then(fixed_axes(model, &free));
    Some(figure(model, "tradeoff", number_panels(plots::tradeoff(&plot)), caption))
}
