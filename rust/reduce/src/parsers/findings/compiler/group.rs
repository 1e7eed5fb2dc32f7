//! Exception groups raised by a script of a build: Python draws a frame around each line of them.

/// What a line of such a traceback contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouped {
    /// It is not part of the traceback.
    Other,
    /// An exception, or the location of a frame.
    Exception,
    Place,
    /// Source, or the drawn frame itself.
    Nothing,
}

#[derive(Debug, Default)]
pub(super) struct Group {
    is_open: bool,
}

impl Group {
    /// Reads `line`, which begins with the drawn frame: `  | ValueError: no fog`.
    pub(super) fn line(&mut self, line: &str) -> Grouped {
        let framed = line.trim_start();
        self.is_open |= framed.starts_with("+ Exception Group Traceback ");
        let Some(text) = framed.strip_prefix("| ").filter(|_| self.is_open) else {
            return if self.is_open {
                Grouped::Nothing
            } else {
                Grouped::Other
            };
        };
        if text.starts_with("  File \"") {
            Grouped::Place
        } else if text.starts_with([' ', '|']) || text.starts_with("Traceback (") {
            Grouped::Nothing
        } else {
            Grouped::Exception
        }
    }

    /// Ends the traceback at a line without a drawn frame.
    pub(super) fn end(&mut self) {
        self.is_open = false;
    }
}
