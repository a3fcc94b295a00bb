//! Announcements of Sentinels, with the true time that none of them knows.

use super::Recorder;
use crate::model::scenario::HostIndex;
use crate::report::Announcement;

impl Recorder {
    /// A Sentinel has told something.
    pub(crate) fn note_announcement(&self, by: HostIndex, kind: &'static str, text: &str) {
        let at = self.now();
        self.lock().announcements.push(Announcement { at, by, kind, text: text.to_owned() });
    }
}
