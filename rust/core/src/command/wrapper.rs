//! Programs that run the command which their own arguments spell out, and change nothing of its output.

use super::options::after_options;
use super::program;

/// Words that can be before a command without being one.
const PREFIX_WORDS: [&str; 2] = ["!", "{"];

/// A program that runs the command which its own arguments spell out.
struct Wrapper {
    name: &'static str,
    /// Its options that take the next word.
    options_with_value: &'static [&'static str],
    /// How many words of its own follow its options.
    own_words: usize,
}

const WRAPPERS: [Wrapper; 15] = [
    Wrapper {
        name: "sudo",
        options_with_value: &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "--user", "--group",
        ],
        own_words: 0,
    },
    Wrapper {
        name: "doas",
        options_with_value: &["-u", "-C"],
        own_words: 0,
    },
    Wrapper {
        name: "timeout",
        options_with_value: &["-s", "--signal", "-k", "--kill-after"],
        own_words: 1,
    },
    Wrapper {
        name: "env",
        options_with_value: &["-u", "--unset", "-C", "--chdir"],
        own_words: 0,
    },
    Wrapper {
        name: "nice",
        options_with_value: &["-n", "--adjustment"],
        own_words: 0,
    },
    Wrapper {
        name: "ionice",
        options_with_value: &["-c", "-n"],
        own_words: 0,
    },
    Wrapper {
        name: "stdbuf",
        options_with_value: &["-i", "-o", "-e"],
        own_words: 0,
    },
    Wrapper {
        name: "nohup",
        options_with_value: &[],
        own_words: 0,
    },
    Wrapper {
        name: "time",
        options_with_value: &["-f", "--format", "-o", "--output"],
        own_words: 0,
    },
    Wrapper {
        name: "cross-env",
        options_with_value: &[],
        own_words: 0,
    },
    Wrapper {
        name: "setsid",
        options_with_value: &[],
        own_words: 0,
    },
    Wrapper {
        name: "unbuffer",
        options_with_value: &[],
        own_words: 0,
    },
    Wrapper {
        name: "xvfb-run",
        options_with_value: &["-e", "-f", "-n", "-p", "-s", "-w", "--server-args"],
        own_words: 0,
    },
    Wrapper {
        name: "command",
        options_with_value: &[],
        own_words: 0,
    },
    Wrapper {
        name: "exec",
        options_with_value: &["-a"],
        own_words: 0,
    },
];

/// `words` without assignments and programs that only run the command which follows.
pub(super) fn unwrapped(words: &[String]) -> &[String] {
    let mut words = words;
    loop {
        let own = words
            .iter()
            .take_while(|word| PREFIX_WORDS.contains(&word.as_str()) || is_assignment(word))
            .count();
        words = words.get(own..).unwrap_or_default();
        let wrapper = WRAPPERS
            .iter()
            .find(|wrapper| program(words) == Some(wrapper.name));
        let Some(wrapper) = wrapper else {
            return words;
        };
        if wrapper.name == "env" && words.len() == 1 {
            // It prints what it would give to a command.
            return words;
        }
        words = wrapped(wrapper, words.get(1..).unwrap_or_default());
    }
}

/// What `arguments` of a wrapper make it run.
fn wrapped<'a>(wrapper: &Wrapper, arguments: &'a [String]) -> &'a [String] {
    let rest = after_options(arguments, |option| {
        wrapper.options_with_value.contains(&option)
    });
    rest.get(wrapper.own_words..).unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
