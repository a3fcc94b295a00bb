//! What makes the records of two files, or of a file and a study, those of two sweeps: which part differs, how, and
//! what to do about it.

use doublehold_text::shorten;

use crate::sweep::StudyHeader;

/// How two headers differ, and the way out.
pub(super) struct Difference {
    /// What is one thing in the first header and another in the second.
    pub(super) cause: String,
    /// How to get records that do not differ in it.
    pub(super) hint: &'static str,
}

/// How a file's header differs from another, which `other` names; `None` if only the shard does.
pub(super) fn difference(header: &StudyHeader, (of, other): (&StudyHeader, &str)) -> Option<Difference> {
    let says = |what: &str, here: &str, there: &str| {
        format!("{what} is `{}` in it and `{}` in {other}", shorten(here), shorten(there))
    };
    let (cause, hint) = if header.program != of.program {
        (says("the program's version", &header.program, &of.program), "sweep with one version of doublehold")
    } else if header.engine != of.engine {
        (says("the engine", &header.engine, &of.engine), "sweep with one engine, or into another folder")
    } else if header.sweep != of.sweep {
        (
            says("the format", &header.sweep.to_string(), &of.sweep.to_string()),
            "sweep all shards with one version of doublehold: others divide a study otherwise",
        )
    } else if header.text != of.text {
        let (line, here, there) = line(&header.text, &of.text);
        (says(&format!("the study's text differs: line {line}"), here, there), "sweep one text of the study")
    } else if header.study != of.study {
        (
            says("the study's name", &header.study, &of.study),
            "a study is named after its file: sweep a file of one name",
        )
    } else if let Some(design) = other_runs(header, of) {
        let cause = format!(
            "the same seeds give other runs of design `{design}` than in {other}: a file that the study names has \
             changed, or the program"
        );
        (cause, "sweep with the same files and the same program")
    } else if let Some(design) = header.designs.iter().zip(&of.designs).find(|(one, other)| one != other) {
        let cause = format!("the world of design `{}` is another than in {other}", design.0.name);
        (cause, "the study names a file that has changed: sweep with the same files")
    } else if header.strata != of.strata {
        let [here, there] = [header, of].map(|it| it.strata.len());
        let cause = format!("its runs are divided into other strata than in {other}: {here}, and {there}");
        (
            cause,
            "an older program divided runs by kind of fault: sweep with one program, or into another folder",
        )
    } else if (StudyHeader { shard: of.shard, partial: of.partial.clone(), ..header.clone() }) == *of {
        return None;
    } else {
        let cause = format!("its header says of the same text something else than {other}");
        (cause, "the file was changed: sweep again into another folder")
    };
    Some(Difference { cause, hint })
}

/// The first line in which two texts that differ do, and its number; empty where one has ended.
fn line<'a>(one: &'a str, other: &'a str) -> (usize, &'a str, &'a str) {
    let endless = |text: &'a str| text.split('\n').map(Some).chain(std::iter::repeat(None));
    let pairs = endless(one).zip(endless(other)).zip(1..);
    let first = pairs
        .take_while(|((here, there), _)| here.is_some() || there.is_some())
        .find(|((one, other), _)| one != other);
    first.map_or((1, "", ""), |((here, there), line)| {
        (line, here.unwrap_or_default(), there.unwrap_or_default())
    })
}

/// The design whose first runs are others: there is a hash for each design at each end of the grid.
fn other_runs<'a>(header: &'a StudyHeader, of: &StudyHeader) -> Option<&'a str> {
    let pairs = header.fingerprint.iter().zip(&of.fingerprint);
    let at = pairs.enumerate().find(|(_, (one, other))| one != other)?.0;
    Some(&header.designs.get(at % header.designs.len().max(1))?.name)
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_first_line_that_differs_is_named_also_where_one_text_has_ended() {
        assert_eq!(line("a\nb\nc", "a\nd\ne"), (2, "b", "d"));
        assert_eq!(line("a", "a\nb"), (2, "", "b"));
        assert_eq!(line("a\nb\nc", "a\nb"), (3, "c", ""));
    }
}
