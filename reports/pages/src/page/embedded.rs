//! Pictures that others drew, made fit to be an image: an example's `<svg>`, out of a file that anybody may have
//! changed.
//!
//! The page shows them as `<img>`, with the whole picture in its address. An image runs nothing, loads nothing, leads
//! nowhere and paints in its own box only, whatever it says: that is the browser's promise, and not ours to keep. In
//! exchange nobody is told more by pointing at it, as in pictures that stand in the page themselves.
//!
//! An image that is opened by itself is a page. So it holds shapes and words only. Scripts, links, and anything else
//! that reacts to a reader or is elsewhere are left out. A text that is not well formed is refused, since a browser
//! would show nothing of it.

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesEnd, BytesRef, BytesStart, BytesText, Event};
use quick_xml::{Reader, Writer, XmlVersion};

/// Elements that are shown. Others are left out, with what is in them.
const SHAPES: &[&str] = &[
    "svg",
    "g",
    "defs",
    "style",
    "title",
    "desc",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "path",
    "text",
    "tspan",
    "marker",
    "pattern",
    "clipPath",
    "mask",
    "use",
    "symbol",
    "linearGradient",
    "radialGradient",
    "stop",
];

/// The shapes and words of a picture, as a file of its own.
pub(crate) fn drawing(svg: &str) -> Result<String, String> {
    if !svg.chars().all(is_xml) {
        return Err("it has a character that no picture has".to_owned());
    }
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let mut sieve = Sieve::default();
    let mut writer = Writer::new(Vec::new());
    loop {
        let kept = match reader.read_event().map_err(|error| failed(&error))? {
            Event::Eof => break,
            Event::Start(start) => sieve.begin(&start)?.map(Event::Start),
            Event::Empty(empty) => sieve.whole(&empty)?.map(Event::Empty),
            Event::End(end) => sieve.end(end)?.map(Event::End),
            Event::Text(text) => sieve.text(&text)?.map(Event::Text),
            Event::GeneralRef(letter) => sieve.letter(letter)?.map(Event::GeneralRef),
            // Comments, declarations, and sections that are not markup.
            _ => None,
        };
        if let Some(kept) = kept {
            writer.write_event(kept).map_err(|error| failed(&error))?;
        }
    }
    if sieve.depth != 0 || !sieve.is_begun {
        return Err("it does not end".to_owned());
    }
    String::from_utf8(writer.into_inner()).map_err(|error| failed(&error))
}

fn failed(error: &dyn std::fmt::Display) -> String {
    format!("it is not well formed ({error})")
}

/// The characters that XML has.
fn is_xml(letter: char) -> bool {
    let is_space = matches!(letter, '\n' | '\r' | '\t');
    is_space || (letter >= ' ' && !matches!(letter, '\u{fffe}' | '\u{ffff}'))
}

/// The filter that lets shapes and words pass, element by element.
#[derive(Default)]
struct Sieve {
    /// The depth of the current element in the image, and in an element that is left out.
    depth: usize,
    hidden: usize,
    is_begun: bool,
    is_style: bool,
}

impl Sieve {
    fn shows(&self) -> bool {
        self.depth > 0 && self.hidden == 0
    }

    fn begin(&mut self, start: &BytesStart<'_>) -> Result<Option<BytesStart<'static>>, String> {
        let name = String::from_utf8_lossy(start.name().as_ref()).into_owned();
        if self.depth == 0 && (name != "svg" || self.is_begun) {
            return Err("it is no single `<svg>`".to_owned());
        }
        let is_root = self.depth == 0;
        (self.depth, self.is_begun) = (self.depth + 1, true);
        if self.hidden > 0 || !SHAPES.contains(&name.as_str()) {
            self.hidden += 1;
            return Ok(None);
        }
        self.is_style = name == "style";
        plain(start, &name, is_root).map(Some)
    }

    fn whole(&mut self, empty: &BytesStart<'_>) -> Result<Option<BytesStart<'static>>, String> {
        let name = String::from_utf8_lossy(empty.name().as_ref()).into_owned();
        let is_shown = self.shows() && SHAPES.contains(&name.as_str());
        if is_shown { plain(empty, &name, false).map(Some) } else { Ok(None) }
    }

    fn end<'e>(&mut self, end: BytesEnd<'e>) -> Result<Option<BytesEnd<'e>>, String> {
        self.depth = self.depth.checked_sub(1).ok_or("it ends more than it begins")?;
        self.is_style = false;
        if self.hidden > 0 {
            self.hidden -= 1;
            return Ok(None);
        }
        Ok(Some(end))
    }

    fn text(&self, text: &BytesText<'_>) -> Result<Option<BytesText<'static>>, String> {
        let words = text.decode().map_err(|error| failed(&error))?.into_owned();
        let is_shown = self.shows() && (!self.is_style || is_at_home(&words));
        Ok(is_shown.then(|| BytesText::from_escaped(words)))
    }

    /// A letter by its number or by one of the five names that XML has. Other names need a declaration.
    fn letter<'e>(&self, letter: BytesRef<'e>) -> Result<Option<BytesRef<'e>>, String> {
        let number = letter.resolve_char_ref().map_err(|error| failed(&error))?;
        let name = letter.decode().map_err(|error| failed(&error))?;
        if !number.map_or_else(|| resolve_xml_entity(&name).is_some(), is_xml) {
            return Err(format!("it is not well formed (`&{name};` is no letter)"));
        }
        // In a style sheet a letter by its number could hide a word from us.
        Ok((self.shows() && !self.is_style).then_some(letter))
    }
}

/// The element with those attributes only that belong to a drawing. Values are read and written again: as they stand, a
/// quotation mark between apostrophes would end them.
fn plain(start: &BytesStart<'_>, name: &str, is_root: bool) -> Result<BytesStart<'static>, String> {
    let mut kept = BytesStart::new(name.to_owned());
    if is_root {
        kept.push_attribute(("xmlns", "http://www.w3.org/2000/svg"));
    }
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| failed(&error))?;
        let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| failed(&error))?;
        let is_word = key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
        let is_drawing = is_word && key != "xmlns" && !key.to_ascii_lowercase().starts_with("on");
        let is_here = if key == "href" { value.starts_with('#') } else { is_at_home(&value) };
        if is_drawing && is_here && value.chars().all(is_xml) {
            kept.push_attribute((key.as_str(), &*value));
        }
    }
    Ok(kept)
}

/// True if a value or a style sheet refers to nothing outside the image. In a style sheet, any other spelling of a word
/// begins with a backslash, and a rule that loads something begins with an at sign.
fn is_at_home(value: &str) -> bool {
    let targets = value.split("url(").skip(1);
    let mut targets = targets.map(|target| target.trim_start().trim_start_matches(['\'', '"']));
    let spelt = value.to_ascii_lowercase().matches("url(").count() == value.matches("url(").count();
    spelt && !value.contains(['\\', '@']) && targets.all(|target| target.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\"";

    #[test]
    fn a_picture_of_ours_stays_as_it_is() {
        let svg = format!(
            "{ROOT} id=\"run\" viewBox=\"0 0 9 9\"><style>#run .label{{stroke:#fff}}</style><defs><marker \
             id=\"arrow\"/></defs><line marker-end=\"url(#arrow)\" stroke=\"#add\"/><use href=\"#arrow\"/>\
             <g clip-path=\"url(#clip)\"><text>#run &amp; url(#arrow) &#62;</text></g></svg>"
        );
        assert_eq!(drawing(&svg).as_deref(), Ok(&*svg));
    }

    #[test]
    fn what_is_no_picture_is_left_out() {
        let svg = "<?xml version=\"1.0\"?><!DOCTYPE svg><!-- x --><svg onload=\"a()\" xmlns:x=\"http://x\">\
                   <script>alert(1)</script><style>@import 'http://x'; a{fill:u\\72l(http://x)}</style>\
                   <style>a{fill:URL(http://x)}</style><style>a{fill:u&#114;l(http://x)}</style>\
                   <style><![CDATA[a{fill:url(http://x)}]]></style>\
                   <foreignObject><div>b</div></foreignObject><image href=\"http://x/y.png\"/>\
                   <a href=\"javascript:c()\"><text>d</text></a><use href=\"http://x/z#s\"/>\
                   <use x:href=\"http://x/z#s\"/><set attributeName=\"href\" to=\"http://x\"/>\
                   <rect fill=\"url(http://x/y)\" style=\"fill:url('http://x/y')\"/><rect/></svg>";
        let got = drawing(svg).expect("what is left is a picture");
        // The sheet with a letter by its number has lost that letter, and with it the word.
        let sheets = "<style></style><style></style><style>a{fill:ul(http://x)}</style><style></style>";
        assert_eq!(got, format!("{ROOT}>{sheets}<use/><use/><rect/><rect/></svg>"));
    }

    #[test]
    fn no_value_ends_before_its_end() {
        let svg = "<svg><rect fill='\"/></svg><script>a()</script><svg x=\"'/><rect fill=\"&quot;>&lt;b&gt;\"/></svg>";
        let got = drawing(svg).expect("it is a picture");
        let first = "&quot;/&gt;&lt;/svg&gt;&lt;script&gt;a()&lt;/script&gt;&lt;svg x=&quot;";
        assert_eq!(got, format!("{ROOT}><rect fill=\"{first}\"/><rect fill=\"&quot;&gt;&lt;b&gt;\"/></svg>"));
    }

    #[test]
    fn what_is_not_well_formed_is_refused() {
        for bad in [
            "",
            "<svg>",
            "<svg></g></svg>",
            "</svg>",
            "<p></p>",
            "<svg/></div>",
            "<svg></svg><svg></svg>",
            "<svg a=b></svg>",
            "<svg a=\"&b;\"></svg>",
            "<svg>&nbsp;</svg>",
            "<svg>&#1;</svg>",
            "<svg>\u{1}</svg>",
        ] {
            assert!(drawing(bad).is_err(), "{bad}");
        }
    }
}
