//! Exceptions that a script of a build raised together: Python frames each line of them.

/// What a line of such a traceback states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouped {
    /// It is of something else.
    Other,
    /// An exception, or the place of a frame.
    Exception,
    Place,
    /// Source, or the frame itself.
    Nothing,
}

#[derive(Debug, Default)]
pub(super) struct Group {
    is_open: bool,
}

impl Group {
    /// Reads `line`, which begins with the frame: `  | ValueError: no fog`.
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

    /// What is not framed ends it.
    pub(super) fn end(&mut self) {
        self.is_open = false;
    }
}
