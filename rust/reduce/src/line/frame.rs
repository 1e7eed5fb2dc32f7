//! Recognises lines of tracebacks.

use crate::line::beginnings::Beginnings;
use crate::line::place;
use ethos_registry_core::find_text::FindText as _;

/// `File "path", line 3`.
pub(crate) fn is_python_frame(body: &str) -> bool {
    body.strip_prefix("File \"")
        .and_then(|rest| rest.split_text("\", line "))
        .is_some_and(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// `at name (path:3:4)`, `at path:3:4`, `at name(File.java:3)`, `at name() in path:line 3`.
pub(crate) fn is_at_frame(body: &str) -> bool {
    let Some(rest) = body.strip_prefix("at ") else {
        return false;
    };
    let rest = rest.strip_suffix(" {").unwrap_or(rest).trim_end();
    if let Some(inner) = rest.strip_suffix(')') {
        return inner.rsplit_text("(").is_some_and(|(_, place)| {
            place.has_text(":")
                || place.starts_with("index ")
                || ["<anonymous>", "native", "Native Method", "Unknown Source"].contains(&place)
        });
    }
    let last_digits = rest.rsplit_text(":").is_some_and(|(_, digits)| {
        let digits = digits.strip_prefix("line ").unwrap_or(digits);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    last_digits || rest.has_text(") ~[") || rest.has_text(") [")
}

/// `#0 0x5578 in main /src/a.c:3:4`, `#1 /src/a.php(3): f()`, `#0  f (x=1) at a.c:3`.
pub(crate) fn is_numbered_frame(body: &str) -> bool {
    let Some(rest) = body.strip_prefix('#') else {
        return false;
    };
    let text = rest.trim_start_matches(|first: char| first.is_ascii_digit());
    text.len() < rest.len()
        && text.starts_with(' ')
        && [" in ", "): ", " at ", "(/"]
            .iter()
            .any(|part| text.has_text(part))
}

/// Function and location of a frame of `gdb`: `#1  0x5578 in walk (n=0x52c0) at tree.c:6`.
pub(crate) fn debugged_at(body: &str) -> Option<(&str, &str)> {
    let numbered = body.strip_prefix('#')?.trim_end();
    let (call, place) = numbered.rsplit_text(") at ")?;
    let (function, _) = call.split_text(" (")?;
    let function = function.rsplit(' ').next()?;
    Some((function, place))
}

/// `12: core::panicking::panic`.
pub(crate) fn is_rust_function(body: &str) -> bool {
    body.split_text(": ").is_some_and(|(number, name)| {
        (1..=4).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && name.has_text("::")
            && !name.has_text(": ")
    })
}

/// `goroutine 1 [running]:`.
pub(crate) fn is_goroutine(body: &str) -> bool {
    body.strip_prefix("goroutine ").is_some_and(|rest| {
        rest.starts_with(|first: char| first.is_ascii_digit()) && rest.ends_with("]:")
    })
}

/// A line that consists of the location of a script; Node shows the source below it.
pub(crate) fn is_excerpt_head(line: &str) -> bool {
    line.starts_with(['/', 'f', 'C'])
        && line
            .bytes()
            .last()
            .is_some_and(|last| last.is_ascii_digit())
        && place(line).is_some_and(|place| {
            place.rest.is_empty()
                && [".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx"]
                    .iter()
                    .any(|suffix| place.path.ends_with(suffix))
        })
}

/// Whether a line opens a frame as notebooks show it: `File ~/oak.py:12, in leaf(x)`, `Cell In[3], line 1`.
pub(crate) fn is_notebook_frame(body: &str) -> bool {
    if let Some(cell) = body.strip_prefix("Cell In[") {
        return cell.has_text("], line ");
    }
    let place = body
        .strip_prefix("File ")
        .and_then(|frame| frame.split_text(", in "));
    place.is_some_and(|(place, _)| {
        let number = place.rsplit_once(':').map_or("", |(_, number)| number);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Whether a line names an exception: `KeyError: 'x'`, `Caused by: a.b.CException`.
pub(crate) fn is_exception(body: &str) -> bool {
    static HEADS: Beginnings<8> = Beginnings::new([
        "Caused by: ",
        "Suppressed: ",
        "Exception in thread ",
        "Uncaught ",
        "Unhandled exception",
        "fatal error: ",
        "terminate called after throwing",
        "[cause]: ",
    ]);
    let name_bytes = body
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
        .count();
    let (name, rest) = body.split_at_checked(name_bytes).unwrap_or_default();
    let named =
        name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("ExceptionGroup");
    (named && (rest.is_empty() || rest.starts_with(": ") || rest.starts_with(" [")))
        || HEADS.begin(body)
}
