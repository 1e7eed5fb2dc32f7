//! Reduces standard input: `reduce COMMAND EXIT_CODE < output`; the format goes to standard error.

use std::io::{Read, Write, stderr, stdin, stdout};

use ethos_registry_reduce::{Kind, Request, reduce_named};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let exit_code = arguments.next().and_then(|code| code.parse().ok());
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let request = Request::of_output(Some(&command), exit_code);
    let reduced = reduce_named(Kind::Terminal, &request, &text);
    let (shown, format) = reduced.unwrap_or_else(|| (text.into_owned(), None));
    writeln!(stderr(), "{}", format.unwrap_or("none"))?;
    stdout().write_all(shown.as_bytes())
}
