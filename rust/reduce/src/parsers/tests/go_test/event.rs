//! Lines assembled from the events of `go test -json`.

use super::Report;
use super::json::Event;

impl<'a> Report<'a, '_> {
    pub(super) fn event(&mut self, event: &Event<'a>, buffer: &mut String) {
        let printer = (event.package, event.test);
        if self.open != Some(printer) {
            self.close(buffer);
        }
        let owner = self.failed.told(event);
        if std::mem::replace(&mut self.package, event.package) != event.package {
            self.begin();
            self.own(owner);
        } else if owner != self.owner {
            self.own(owner);
        }
        if let Some(ended) = event.add_to(buffer) {
            self.open = Some(printer);
            if ended {
                self.close(buffer);
            }
        }
    }

    /// Handles the line that was assembled, if one is open.
    pub(super) fn close(&mut self, line: &mut String) {
        if self.open.take().is_some() {
            let known = self.owner;
            self.text(line, None);
            self.owner = known;
            line.clear();
        }
    }
}
