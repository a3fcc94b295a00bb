//! A run as one HTML page that can be zoomed: the view model as JSON, and a small script that draws it.
//!
//! Self-contained: no library, no font, no network, which the page's own policy forbids. Without scripts it shows the
//! SVG. Names of hosts, keys and locks are user input: in markup they are escaped, in the JSON nothing can end the
//! element that holds it, and the script only ever sets text.

use super::paper::escaped;
use super::{Options, svg};
use crate::picture::view::View;

const STYLE: &str = include_str!("page/page.css");
const DRAWING: &str = include_str!("page/page.js");
const LEGEND: &str = include_str!("page/legend.js");
const HANDS: &str = include_str!("page/hands.js");

/// What may be loaded: nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'";

const BODY: &str = r#"<main>
<section id="picture" aria-label="picture">
<div id="tools">
<button type="button" data-act="in" title="key +">zoom in</button>
<button type="button" data-act="out" title="key -">zoom out</button>
<button type="button" data-act="left" title="key left">left</button>
<button type="button" data-act="right" title="key right">right</button>
<button type="button" data-act="whole" title="key 0">whole run</button>
<button type="button" data-act="previous" title="key p" EVIDENCE-BUTTON>previous evidence</button>
<button type="button" data-act="next" title="key n" EVIDENCE-BUTTON>next evidence</button>
<span id="shown" class="faint" role="status"></span>
</div>
<div id="frame"><canvas id="canvas" tabindex="0" role="img" aria-label="lanes of hosts over true time; the lists beside it say the same"></canvas></div>
<ul id="legend" aria-label="what the signs mean"></ul>
<div id="own"><h2>every host's own clocks, <span class="faint" id="at"></span></h2><table id="clocks"></table></div>
</section>
<aside>
<h2>evidence: EVIDENCE-WORDS</h2>
<ol id="evidence"></ol>
<h2>what happened</h2>
<ol id="story"></ol>
<p class="faint" id="left-out"></p>
</aside>
</main>
<div id="tip" role="tooltip"></div>
"#;

/// Draws a run as one HTML page.
///
/// # Errors
///
/// None in practice: everything in a view can be written as JSON.
pub fn html(view: &View, options: &Options) -> serde_json::Result<String> {
    let title = escaped(&format!("{}, seed {}", view.scenario, view.seed));
    let data = inert(&serde_json::to_string(view)?);
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}\
         <noscript>\n<style>main{{display:none}}</style>\n{}</noscript>\n{}\
         <script type=\"application/json\" id=\"view\">{data}</script>\n\
         <script>\n(() => {{\n{DRAWING}{LEGEND}{HANDS}}})();\n</script>\n</body>\n</html>\n",
        header(view),
        svg(view, options),
        body(view),
    ))
}

/// The body of a page, the same on every page except that nothing can be clicked if nothing is violated.
fn body(view: &View) -> String {
    let (words, button) = match view.evidence.is_empty() {
        true => ("none, since no rule is violated", " disabled"),
        false => ("click for the events that prove it", ""),
    };
    BODY.replace("EVIDENCE-WORDS", words).replace(" EVIDENCE-BUTTON", button)
}

fn header(view: &View) -> String {
    let mut markup = format!(
        "<header>\n<h1>{}</h1> <span class=\"faint\">seed {}, trace {}</span>\n<p>{}</p>\n<p>",
        escaped(&view.scenario),
        escaped(&view.seed),
        escaped(&view.trace_hash),
        escaped(&view.claim),
    );
    for it in &view.verdicts {
        markup.push_str(&format!(
            "<span class=\"verdict {0}\" title=\"{1}\">{2} {0}</span>",
            it.verdict, it.name, it.predicate
        ));
    }
    markup.push_str("</p>\n");
    if let Some(account) = &view.account {
        let (label, words) = (account.label(), escaped(&account.words));
        markup.push_str(&format!("<p><b>{label}:</b> {words}</p>\n"));
    }
    markup + "</header>\n"
}

/// JSON in which no reader of HTML finds the end of an element, or the beginning of a comment.
fn inert(json: &str) -> String {
    json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}
