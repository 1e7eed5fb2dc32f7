//! Text of `cmake` below its errors and warnings, and its lists of features.

use crate::line::beginnings::Beginnings;
use ethos_registry_core::find_text::FindText as _;

/// How paragraphs begin whose message does not depend on what is missing.
static ADVICE: Beginnings<3> = Beginnings::new([
    "By not providing \"Find",
    "Add the installation prefix of ",
    "Tried extensions ",
]);
/// The line above the names of features, one per line.
const LIST: &str = "-- The following ";
/// The prefix of a name.
const NAME: &str = " * ";
/// The line above the frames of a message.
const STACK: &str = "Call Stack (most recent call first):";
/// The folder of the modules of `cmake` itself.
const MODULES: &str = "/share/cmake";

/// The state before the next line of `cmake`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    /// In the indented text below a message.
    Message,
    /// In a paragraph of that text that is equal below all such messages.
    Advice,
    /// Among the frames of a message.
    Stack,
    /// Below the header of a list of features.
    List,
}

/// What a line of `cmake` contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    /// It is not from `cmake`.
    Other,
    /// The header of a message, or a line of it.
    Fact(&'a str),
    /// The header of a list, or a name in it.
    Feature(&'a str),
    Nothing,
}

/// Reads lines depending on those before.
#[derive(Debug, Default)]
pub(super) struct Cmake {
    state: State,
}

impl Cmake {
    /// Reads a line that is indented by `depth`; an empty line ends a paragraph.
    pub(super) fn line<'a>(&mut self, text: &'a str, depth: usize) -> Told<'a> {
        if self.state == State::Outside {
            return self.head(text);
        }
        let said = text.trim();
        match self.state {
            State::Advice if said.is_empty() => self.state = State::Message,
            State::Message | State::Advice if depth > 0 && !said.is_empty() => {
                if ADVICE.begin(said) {
                    self.state = State::Advice;
                }
                let is_advice = self.state == State::Advice;
                return if is_advice {
                    Told::Nothing
                } else {
                    Told::Fact(said)
                };
            }
            State::Stack if depth > 0 && !said.is_empty() => {
                let is_own = text.find_text(MODULES).is_none();
                return if is_own {
                    Told::Fact(said)
                } else {
                    Told::Nothing
                };
            }
            State::List if text.starts_with(NAME) => {
                // The description of a feature is left out, unless it contains a value.
                let name = text
                    .split_text(", ")
                    .filter(|(_, meaning)| !meaning.contains(": "));
                return Told::Feature(name.map_or(text, |(name, _)| name));
            }
            _ if said.is_empty() => {}
            _ => return self.head(text),
        }
        Told::Other
    }

    fn head<'a>(&mut self, text: &'a str) -> Told<'a> {
        self.state = State::Outside;
        if !text.starts_with(['C', '-']) {
            return Told::Other;
        }
        if text.starts_with("CMake Error") || text.starts_with("CMake Warning") {
            self.state = State::Message;
            Told::Fact(text)
        } else if text == STACK {
            self.state = State::Stack;
            Told::Nothing
        } else if text.starts_with(LIST) && text.ends_with(':') {
            self.state = State::List;
            Told::Feature(text)
        } else {
            Told::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<Told<'_>> {
        let mut cmake = Cmake::default();
        let depth = |line: &str| line.len() - line.trim_start().len();
        let lines = text.lines();
        lines
            .map(|line| cmake.line(line, depth(line)))
            .filter(|told| *told != Told::Other)
            .collect()
    }

    #[test]
    fn what_is_said_below_each_missing_package_goes() {
        let text = "CMake Error at CMakeLists.txt:4 (find_package):\n  By not providing \"FindOak.cmake\" in CMAKE_MODULE_PATH this project has\n  \
                    asked CMake to find a package configuration file provided by \"Oak\", but\n  CMake did not find one.\n\n  \
                    Could not find a package configuration file provided by \"Oak\" with any\n  of the following names:\n\n    OakConfig.cmake\n\n  \
                    Add the installation prefix of \"Oak\" to CMAKE_PREFIX_PATH or set\n  been installed.\n\nsomething else\n";
        assert_eq!(
            told(text),
            [
                Told::Fact("CMake Error at CMakeLists.txt:4 (find_package):"),
                Told::Nothing,
                Told::Nothing,
                Told::Nothing,
                Told::Fact(
                    "Could not find a package configuration file provided by \"Oak\" with any"
                ),
                Told::Fact("of the following names:"),
                Told::Fact("OakConfig.cmake"),
                Told::Nothing,
                Told::Nothing,
            ]
        );
    }

    #[test]
    fn of_the_frames_of_a_message_those_of_the_project_stay() {
        let text = "CMake Error at /usr/share/cmake-3.25/Modules/Find.cmake:230 (message):\n  Could NOT find Oak\n\
                    Call Stack (most recent call first):\n  /usr/share/cmake-3.25/Modules/Find.cmake:600 (_FAILURE)\n  \
                    CMakeLists.txt:3 (find_package)\n\n\nSee also\n";
        assert_eq!(
            told(text),
            [
                Told::Fact(
                    "CMake Error at /usr/share/cmake-3.25/Modules/Find.cmake:230 (message):"
                ),
                Told::Fact("Could NOT find Oak"),
                Told::Nothing,
                Told::Nothing,
                Told::Fact("CMakeLists.txt:3 (find_package)"),
            ]
        );
    }

    #[test]
    fn features_are_named_under_the_head_of_their_list() {
        let text = "-- The following features have been disabled:\n\n * OAK_TESTS, Build test binaries\n * ELM\n * OAK_TYPE, Type: Release\n\n-- Configuring done\n";
        assert_eq!(
            told(text),
            [
                Told::Feature("-- The following features have been disabled:"),
                Told::Feature(" * OAK_TESTS"),
                Told::Feature(" * ELM"),
                Told::Feature(" * OAK_TYPE, Type: Release"),
            ]
        );
    }
}
