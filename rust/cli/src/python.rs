//! The commands that are written in Python.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _, stdin};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use crate::fail;

/// The script that the installer writes beside this program, with the path of the interpreter in it.
const SCRIPT: &str = "ethos-registry-python";

/// Runs the command line in Python, instead of this process where the system can. With `beginning`, that is what has been
/// read of standard input.
pub(crate) fn run(arguments: &[OsString], beginning: Option<&[u8]>) -> ExitCode {
    let mut command = script().map_or_else(module, Command::new);
    command.args(arguments);
    if let Some(beginning) = beginning {
        return with_input(command, beginning).unwrap_or_else(|error| failed(&error));
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        failed(&command.exec())
    }
    #[cfg(not(unix))]
    match command.status() {
        Ok(status) => code(status.code()),
        Err(error) => failed(&error),
    }
}

/// A build of this program alone has no script: the package is where `python3` finds it.
fn module() -> Command {
    let mut command = Command::new(if cfg!(windows) { "python" } else { "python3" });
    command.args(["-m", "ethos_registry_cli"]);
    command
}

fn with_input(mut command: Command, beginning: &[u8]) -> io::Result<ExitCode> {
    let mut child = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        // The child reports what it cannot read.
        let _ = pipe
            .write_all(beginning)
            .and_then(|()| io::copy(&mut stdin().lock(), &mut pipe));
    }
    Ok(code(child.wait()?.code()))
}

/// What the command line in Python prints for `input`; `None` if it fails.
pub(crate) fn answered(arguments: &[OsString], input: &[u8]) -> Option<Vec<u8>> {
    let mut command = script().map_or_else(module, Command::new);
    command.args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(input).ok()?;
    let done = child.wait_with_output().ok()?;
    done.status.success().then_some(done.stdout)
}

fn code(code: Option<i32>) -> ExitCode {
    ExitCode::from(u8::try_from(code.unwrap_or(1)).unwrap_or(1))
}

fn script() -> Option<PathBuf> {
    let program = env::current_exe().ok()?.canonicalize().ok()?;
    let script = program
        .with_file_name(SCRIPT)
        .with_extension(env::consts::EXE_EXTENSION);
    script.exists().then_some(script)
}

fn failed(error: &io::Error) -> ExitCode {
    fail(&format!(
        "cannot start Python ({error}): install ethos-registry again with pip"
    ))
}
