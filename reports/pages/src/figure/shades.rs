//! Faults, behind the lanes of the hosts that they strike: a shade while one lasts, a line where one strikes once.

use doublehold_history::instant;
use doublehold_render::picture::view::FaultSpan;
use doublehold_scenarios::fault::Nature;
use doublehold_text::duration;

use super::colours::{INK, Pattern, VIOLATION};
use super::panel::Panel;
use super::paper::{Align, Box2};
use super::rows::{Row, RowContent};

impl Panel<'_> {
    pub(super) fn shades(&mut self) {
        let view = self.view;
        for row in self.rows {
            match &row.shown {
                RowContent::Links(faults) => faults.iter().for_each(|fault| self.shade(row, fault)),
                _ => {
                    let host = row.host();
                    let strikes = |fault: &&FaultSpan| host.is_some_and(|host| fault.hosts.contains(&host));
                    // What lies between hosts is said in a row of its own, and only hinted at in theirs.
                    view.lanes.faults.iter().filter(strikes).for_each(|fault| self.shade(row, fault));
                }
            }
        }
    }

    fn shade(&mut self, row: &Row<'_>, fault: &FaultSpan) {
        let until = fault.until.unwrap_or(self.view.ended);
        let until = if fault.lasts { until } else { fault.from };
        if !self.scale.shows(fault.from, until) {
            return;
        }
        let is_hint = fault.of_link && !matches!(row.shown, RowContent::Links(_));
        let (x, end) = (self.scale.inside(fault.from), self.scale.inside(until));
        let (top, height) = (row.top + 1.0, row.height - 2.0);
        let over = match fault.until {
            Some(_) if fault.lasts => format!(", for {}", duration(until.since(fault.from))),
            _ => String::new(),
        };
        let title = format!("{}, at {}{over}", fault.words, instant(fault.from));
        let data = format!(r#"class="fault" data-from="{}""#, fault.from.0);
        if fault.lasts {
            let area = Box2 { x, y: top, width: (end - x).max(1.0), height };
            let opacity = if is_hint { r#" fill-opacity="0.4""# } else { "" };
            let attributes = format!(r#"{data} fill="{}"{opacity}"#, pattern(fault).fill(self.id));
            self.paper.rect(area, &attributes, &title);
        } else if !is_hint {
            let attributes =
                format!(r#"{data} stroke="{VIOLATION}" stroke-width="1.6" stroke-dasharray="3 2""#);
            self.paper.line((x, top), (x, top + height), &attributes, &title);
        }
        if !is_hint && (!fault.again || self.scale.from > fault.from) {
            let words = if fault.of_link || !fault.lasts { fault.words.as_str() } else { fault.kind.state };
            let y = if fault.of_link { row.middle() + 4.0 } else { row.top + 10.0 };
            self.label((x + 3.0, y), Align::Start, INK, words, false);
        }
    }
}

fn pattern(fault: &FaultSpan) -> Pattern {
    match fault.kind.nature {
        Nature::Stop => Pattern::Stop,
        Nature::Death => Pattern::Death,
        Nature::Clock | Nature::ClockOnce | Nature::Service => Pattern::Clock,
        Nature::Disk | Nature::Data | Nature::Role => Pattern::Clock,
        Nature::Link | Nature::Message => Pattern::Link,
    }
}
