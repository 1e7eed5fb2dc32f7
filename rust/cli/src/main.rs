//! The program `ethos-registry`: `hook AGENT`, `reduce` and `--version` without an interpreter, all else in Python.

mod hook;
mod python;
mod reduce;

use std::env;
use std::ffi::OsString;
use std::io::{Write as _, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let words: Vec<&str> = arguments
        .iter()
        .map_while(|argument| argument.to_str())
        .collect();
    let is_text = words.len() == arguments.len();
    match words.as_slice() {
        ["--version"] => print(concat!("ethos-registry ", env!("CARGO_PKG_VERSION"), "\n")),
        ["hook", rest @ ..] if hook::is_call(rest) => hook::run(rest, &arguments),
        ["reduce", options @ ..] if is_text => match reduce::Options::read(options) {
            Some(options) => reduce::run(&options, &arguments),
            None => python::run(&arguments, None),
        },
        _ => python::run(&arguments, None),
    }
}

/// Writes to standard output; the exit codes of a reader that has gone, and of another error, are those of the Python side.
fn print(text: &str) -> ExitCode {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::from(141),
        Err(error) => fail(&error.to_string()),
    }
}

/// Reports an error on one line.
fn fail(reason: &str) -> ExitCode {
    let _ = writeln!(stderr(), "error: {reason}");
    ExitCode::from(2)
}
