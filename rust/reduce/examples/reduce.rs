//! Reduces standard input: `reduce COMMAND EXIT_CODE < output`; the family goes to standard error.

use std::io::{Read, Write, stderr, stdin, stdout};

use ethos_registry_reduce::{Kind, Request, family, reduce};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let exit_code = arguments.next().and_then(|code| code.parse().ok());
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let request = Request::of_output(Some(&command), exit_code);
    let reduced = reduce(Kind::Terminal, &request, &text);
    writeln!(stderr(), "{}", family(&text, Some(&command)))?;
    stdout().write_all(reduced.as_deref().unwrap_or(&text).as_bytes())
}
