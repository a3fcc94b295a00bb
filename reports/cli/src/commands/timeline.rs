//! `--timeline FILE`: a run as a figure, in the form that the file's ending names.

use std::io::{self, Write};
use std::path::Path;

use doublehold_diagnosis::Explained;
use doublehold_pages::figure::{self, Options};
use doublehold_render::picture::view::View;
use doublehold_scenarios::detail::Detail;
use doublehold_text::shorten;

use crate::error::CliError;
use crate::output::{OutputFile, Written};
use crate::png::{png, require};

/// A figure to be written.
pub(crate) struct TimelineFile {
    form: Form,
    pub(crate) file: OutputFile,
}

/// How a figure can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Png,
    Html,
}

/// Every form, by the ending that asks for it.
const FORMS: [(&str, Form); 3] = [("svg", Form::Svg), ("png", Form::Png), ("html", Form::Html)];

impl TimelineFile {
    /// Opens the file before the run. An ending that is not known is refused.
    pub(crate) fn open(path: &str) -> Result<TimelineFile, CliError> {
        let form = form_of(path)?;
        if form == Form::Png {
            require(&format!("`--timeline {}`", shorten(path)))?;
        }
        Ok(TimelineFile { form, file: OutputFile::create("the timeline", path)? })
    }

    /// Writes the figure beside its place.
    pub(crate) fn write(self, run: &Explained, detail: Detail) -> Result<Written, CliError> {
        self.write_view(&View::from_run(run, Some(detail)))
    }

    /// Writes a figure of what is drawn.
    pub(crate) fn write_view(self, view: &View) -> Result<Written, CliError> {
        self.file.write(|output| self.form.write(view, output))
    }
}

impl Form {
    fn write(self, view: &View, output: &mut dyn Write) -> io::Result<()> {
        match self {
            Form::Svg => output.write_all(figure::svg(view, &Options::default()).as_bytes()),
            Form::Png => {
                let png = png(&figure::svg(view, &Options::default())).map_err(io::Error::other)?;
                output.write_all(&png)
            }
            Form::Html => output.write_all(figure::html(view, &Options::default())?.as_bytes()),
        }
    }
}

fn form_of(path: &str) -> Result<Form, CliError> {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let known = FORMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending));
    known.map(|(_, form)| *form).ok_or_else(|| {
        let endings: Vec<String> = FORMS.iter().map(|(known, _)| format!("`.{known}`")).collect();
        CliError::Usage {
            problem: format!("`--timeline {}` names no form of picture", shorten(path)),
            hint: format!("end the file's name with {}", doublehold_text::join_names(&endings, "or")),
        }
    })
}
