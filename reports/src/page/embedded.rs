//! Pictures that others drew, made fit to stand in a page beside each other: an example's `<svg>`.
//!
//! Two of them may call different things alike, and the page is one name space, so that every name gets a prefix. What
//! is no picture is left out: scripts, whatever reacts to a reader, whatever is elsewhere. What is not well formed is
//! refused, since the page around it would not be either.

use quick_xml::Reader;
use quick_xml::Writer;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, BytesText, Event};

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

/// The picture, with `prefix` before each of its names.
pub(crate) fn embedded(svg: &str, prefix: &str) -> Result<String, String> {
    let mut reader = Reader::from_str(svg);
    reader.config_mut().check_end_names = true;
    let mut writer = Writer::new(Vec::new());
    // How deep we are in all, and in what is left out; whether we are in a style.
    let (mut depth, mut hidden, mut is_style, mut is_begun) = (0usize, 0usize, false, false);
    let failed = |error: &dyn std::fmt::Display| format!("it is not well formed ({error})");
    loop {
        let event = reader.read_event().map_err(|error| failed(&error))?;
        let kept = match event {
            Event::Eof => break,
            Event::Start(start) => {
                let name = name_of(&start);
                if depth == 0 && (name != "svg" || is_begun) {
                    return Err("it is no single `<svg>`".to_owned());
                }
                (depth, is_begun) = (depth + 1, true);
                if hidden > 0 || !SHAPES.contains(&name.as_str()) {
                    hidden += 1;
                    continue;
                }
                is_style = name == "style";
                Event::Start(with_names(&start, &name, prefix)?)
            }
            Event::Empty(empty) => {
                let name = name_of(&empty);
                if depth == 0 || hidden > 0 || !SHAPES.contains(&name.as_str()) {
                    continue;
                }
                Event::Empty(with_names(&empty, &name, prefix)?)
            }
            Event::End(end) => {
                depth = depth.checked_sub(1).ok_or("it ends more than it begins")?;
                is_style = false;
                if hidden > 0 {
                    hidden -= 1;
                    continue;
                }
                Event::End(end)
            }
            Event::Text(text) if depth > 0 && hidden == 0 => {
                let words = text.decode().map_err(|error| failed(&error))?;
                let words = if is_style { in_style(&words, prefix) } else { words.into_owned() };
                Event::Text(BytesText::from_escaped(words).into_owned())
            }
            Event::GeneralRef(letter) if depth > 0 && hidden == 0 => Event::GeneralRef(letter),
            // Comments, declarations, what stands around the picture.
            _ => continue,
        };
        writer.write_event(kept).map_err(|error| failed(&error))?;
    }
    if depth != 0 || !is_begun {
        return Err("it does not end".to_owned());
    }
    String::from_utf8(writer.into_inner()).map_err(|error| failed(&error))
}

fn name_of(start: &BytesStart<'_>) -> String {
    String::from_utf8_lossy(start.name().as_ref()).into_owned()
}

/// The element with its own names and those it refers to prefixed, and without what is no drawing.
fn with_names(start: &BytesStart<'_>, name: &str, prefix: &str) -> Result<BytesStart<'static>, String> {
    let mut kept = BytesStart::new(name.to_owned());
    for attribute in start.attributes() {
        let attribute: Attribute<'_> =
            attribute.map_err(|error| format!("it is not well formed ({error})"))?;
        let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
        let value = String::from_utf8_lossy(&attribute.value).into_owned();
        let value = match key.as_str() {
            "id" => format!("{prefix}-{value}"),
            "aria-labelledby" | "aria-describedby" => {
                let names: Vec<String> =
                    value.split_whitespace().map(|name| format!("{prefix}-{name}")).collect();
                names.join(" ")
            }
            "href" | "xlink:href" => match value.strip_prefix('#') {
                Some(name) => format!("#{prefix}-{name}"),
                None => continue,
            },
            _ if key.starts_with("on") => continue,
            _ if value.contains("url(") => of_urls(&value, prefix),
            _ => value,
        };
        kept.push_attribute((key.as_bytes(), value.as_bytes()));
    }
    Ok(kept)
}

/// `url(#name)` with its prefix. What is elsewhere becomes nothing.
fn of_urls(value: &str, prefix: &str) -> String {
    let mut parts = value.split("url(");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (target, rest) = part.split_once(')').unwrap_or((part, ""));
        let target = target.trim().trim_matches(['\'', '"']);
        match target.strip_prefix('#') {
            Some(name) => whole += &format!("url(#{prefix}-{name}){rest}"),
            None => whole += &format!("none{rest}"),
        }
    }
    whole
}

/// A style sheet whose rules are about this picture's names. What it would fetch from elsewhere is taken out.
fn in_style(sheet: &str, prefix: &str) -> String {
    let sheet = of_urls(&sheet.replace("@import", ""), prefix);
    // A name in front of a rule; a colour comes after a colon, within one.
    let mut whole = String::with_capacity(sheet.len());
    let mut is_rule = false;
    let mut letters = sheet.chars().peekable();
    while let Some(letter) = letters.next() {
        is_rule = match letter {
            '{' => true,
            '}' => false,
            _ => is_rule,
        };
        whole.push(letter);
        let begins_name = letters.peek().is_some_and(|next| next.is_alphabetic() || *next == '_');
        if letter == '#' && !is_rule && begins_name {
            whole += &format!("{prefix}-");
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_a_prefix_wherever_they_are() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"run\"><style>#run .label{stroke:#fff}</style><defs>\
                   <marker id=\"arrow\"/></defs><line marker-end=\"url(#arrow)\" stroke=\"#add\"/>\
                   <use href=\"#arrow\"/><text>#run &amp; url(#arrow)</text></svg>";
        let got = embedded(svg, "e-1").expect("it is a picture");
        for part in [
            "id=\"e-1-run\"",
            "#e-1-run .label{stroke:#fff}",
            "id=\"e-1-arrow\"",
            "url(#e-1-arrow)\" stroke=\"#add\"",
            "href=\"#e-1-arrow\"",
            "<text>#run &amp; url(#arrow)</text>",
        ] {
            assert!(got.contains(part), "{part} in {got}");
        }
    }

    #[test]
    fn what_is_no_picture_is_left_out() {
        let svg = "<?xml version=\"1.0\"?><!-- x --><svg onload=\"a()\"><script>alert(1)</script>\
                   <foreignObject><div>b</div></foreignObject><image href=\"http://x/y.png\"/>\
                   <a href=\"javascript:c()\"><text>d</text></a><use href=\"http://x/z#s\"/>\
                   <rect fill=\"url(http://x/y)\" style=\"fill:url('http://x/y')\"/><rect/></svg>";
        let got = embedded(svg, "p").expect("what is left is a picture");
        assert_eq!(got, "<svg><use/><rect fill=\"none\" style=\"fill:none\"/><rect/></svg>");
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
        ] {
            assert!(embedded(bad, "p").is_err(), "{bad}");
        }
        // What stands around it is not shown.
        assert_eq!(embedded("x<svg></svg>y", "p").as_deref(), Ok("<svg></svg>"));
    }
}
