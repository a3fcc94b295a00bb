//! What stands in the rows: waits, claims, writes, keys.

use doublehold_history::TrueNs;
use doublehold_history::instant;
use doublehold_render::palette::PAPER;
use doublehold_render::picture::view::{ClaimBar, ClientLane, KeyBar, WriteFate, WriteMark};
use doublehold_scenarios::report::{KeyEnd, KeyOrigin};
use doublehold_scenarios::scenario::HostIndex;
use doublehold_text::duration;

use super::colours::{self, FAINT, INK, Pattern, VIOLATION};
use super::panel::{Bar, Panel};
use super::paper::{Align, Box2};
use super::rows::{Row, RowContent};

/// How high a bar is.
const HEIGHT: f64 = 14.0;

impl Panel<'_> {
    pub(super) fn bars(&mut self) {
        for row in self.rows {
            match &row.shown {
                RowContent::Client { lane, place } => self.client(row, lane, *place),
                RowContent::Node(lane) => lane.keys.iter().for_each(|key| self.key(row, key)),
                RowContent::Other(_) | RowContent::Links(_) => {}
            }
        }
    }

    /// The part of a bar that is in the panel; `None` if none is, or nothing new. What has no length is as wide as a
    /// line.
    fn bar(&mut self, row: &Row<'_>, bar: Bar, from: TrueNs, to: TrueNs) -> Option<Box2> {
        if !self.scale.shows(from, to) {
            return None;
        }
        let (x, end) = (self.scale.inside(from), self.scale.inside(to));
        let area = Box2 { x, y: row.middle() - HEIGHT / 2.0, width: (end - x).max(0.8), height: HEIGHT };
        self.is_new(area, bar).then_some(area)
    }

    fn client(&mut self, row: &Row<'_>, lane: &ClientLane, place: usize) {
        let middle = row.middle();
        for wait in &lane.waits {
            if let Some(area) = self.bar(row, Bar::Wait, wait.from, wait.to) {
                let attributes = format!(
                    r#"class="wait" stroke="{}" stroke-width="2" stroke-dasharray="1 4""#,
                    colours::client(place)
                );
                let title = format!("asks for the lock, for {}", duration(wait.to.since(wait.from)));
                self.paper.line((area.x, middle), (area.x + area.width, middle), &attributes, &title);
            }
        }
        for claim in &lane.claims {
            self.claim(row, claim, place);
        }
        for at in &lane.refusals {
            if self.scale.shows(*at, *at) {
                let attributes =
                    format!(r#"class="refusal" fill="{PAPER}" stroke="{}""#, colours::client(place));
                self.paper.circle(
                    (self.scale.x(*at), middle),
                    3.0,
                    &attributes,
                    &format!("is refused, {}", instant(*at)),
                );
            }
        }
        for write in &lane.writes {
            self.write(row, write);
        }
    }

    fn claim(&mut self, row: &Row<'_>, claim: &ClaimBar, place: usize) {
        let Some(area) = self.bar(row, Bar::Claim, claim.from, claim.to) else { return };
        let ink = colours::client(place);
        let until = if claim.open_ended { "until the run ended" } else { "until" };
        let title = format!(
            "believes that it holds the lock, from {} {until} {}",
            instant(claim.from),
            instant(claim.to)
        );
        let data = format!(
            r#"data-grant="{}" data-from="{}" data-to="{}""#,
            claim.grant.0, claim.from.0, claim.to.0
        );
        let attributes = format!(
            r#"class="claim" {data} fill="{}" stroke="{ink}""#,
            Pattern::Overdue(place).fill(self.id)
        );
        self.paper.rect(area, &attributes, &title);
        for &(from, to) in &claim.valid {
            if let Some(area) = self.bar(row, Bar::Valid, from, to) {
                let attributes =
                    format!(r#"class="valid" data-from="{}" data-to="{}" fill="{ink}""#, from.0, to.0);
                self.paper.rect(area, &attributes, &format!("{title}; here before its own deadline"));
            }
        }
        for deadline in &claim.deadlines {
            let Some(at) = deadline.passed.filter(|at| self.scale.shows(*at, *at)) else { continue };
            let x = self.scale.x(at);
            let (top, bottom) = (area.y - 5.0, area.y + HEIGHT + 3.0);
            let title = format!("its own deadline, {}: true time {}", deadline.words, instant(at));
            self.paper.line(
                (x, top),
                (x, bottom),
                &format!(r#"class="deadline" stroke="{INK}" stroke-width="1.4""#),
                &title,
            );
            self.label(
                (x + 3.0, bottom + 8.0),
                Align::Start,
                INK,
                &format!("deadline: {}", deadline.words),
                false,
            );
        }
    }

    fn write(&mut self, row: &Row<'_>, write: &WriteMark) {
        let (words, ink) = match write.fate {
            WriteFate::Applied => ("write applied", INK),
            WriteFate::Late => ("late write applied", VIOLATION),
            WriteFate::Refused => ("write refused", VIOLATION),
            WriteFate::Lost => ("committed write lost", VIOLATION),
            WriteFate::UnderWay => return,
        };
        let Some(at) = write.arrived.filter(|at| self.scale.shows(*at, *at)) else { return };
        let (x, y) = (self.scale.x(at), row.middle() - HEIGHT / 2.0 - 1.0);
        let points = [(x, y), (x - 4.0, y - 7.0), (x + 4.0, y - 7.0), (x, y)];
        let attributes = format!(r#"class="write" data-at="{}" fill="{ink}""#, at.0);
        self.paper.path(&points, &attributes, &format!("{words}, {}", instant(at)));
        self.label_beside((x, y - 1.0), 6.0, (ink, write.fate != WriteFate::Applied), words);
    }

    fn key(&mut self, row: &Row<'_>, key: &KeyBar) {
        let until = key.until.map_or(self.view.ended, |(at, _)| at);
        let Some(area) = self.bar(row, Bar::Key, key.from, until) else { return };
        let place = self.place_of(key.client);
        let ink = colours::client(place);
        let name = self.view.hosts.get(key.client.0).map_or("", |host| host.name.as_str()).to_owned();
        let origin = match key.origin {
            KeyOrigin::Executed => "",
            KeyOrigin::Replicated => ", from its master",
            KeyOrigin::Loaded => ", from its file",
        };
        let end = key.until.map(|(at, how)| (at, how_it_ended(how)));
        let ended = end.map_or("until the run ended".to_owned(), |(at, how)| {
            format!("until it {how} at {}", instant(at))
        });
        let title = format!("{name}'s key{origin}, from {} {ended}", instant(key.from));
        let data =
            format!(r#"data-grant="{}" data-from="{}" data-to="{}""#, key.grant.0, key.from.0, until.0);
        let attributes = format!(r#"class="key" {data} fill="{}" stroke="{ink}""#, colours::pale(place));
        self.paper.rect(area, &attributes, &title);
        if let Some((at, how)) = key.until.filter(|(at, _)| self.scale.shows(*at, *at)) {
            let x = self.scale.x(at);
            let is_lost = matches!(how, KeyEnd::Forgotten | KeyEnd::Flushed | KeyEnd::Evicted);
            let (ink, wide) = match how {
                KeyEnd::Forgotten | KeyEnd::Flushed | KeyEnd::Evicted => (VIOLATION, 2.4),
                KeyEnd::Expired | KeyEnd::SessionEnded => (INK, 2.4),
                KeyEnd::Deleted | KeyEnd::Overwritten => (FAINT, 1.2),
            };
            let attributes = format!(r#"stroke="{ink}" stroke-width="{wide}""#);
            self.paper.line((x, area.y - 2.0), (x, area.y + HEIGHT + 2.0), &attributes, &title);
            self.label_beside((x, area.y - 3.0), 3.0, (ink, is_lost), how_it_ended(how));
        }
        self.label_in(area, INK, &[&format!("{name}{origin}"), &name]);
    }

    fn place_of(&self, host: HostIndex) -> usize {
        let clients = self.rows.iter().find_map(|row| match row.shown {
            RowContent::Client { lane, place } if lane.host == host => Some(place),
            _ => None,
        });
        clients.unwrap_or(0)
    }
}

fn how_it_ended(how: KeyEnd) -> &'static str {
    match how {
        KeyEnd::Expired => "expired",
        KeyEnd::Deleted => "was deleted",
        KeyEnd::Overwritten => "was overwritten",
        KeyEnd::Forgotten => "was lost",
        KeyEnd::Flushed => "was flushed",
        KeyEnd::Evicted => "was evicted",
        KeyEnd::SessionEnded => "session ended",
    }
}
