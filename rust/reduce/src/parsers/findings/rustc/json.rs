//! Messages of `cargo --message-format=json`, turned into the text that they hold.

use ethos_registry_core::lines::lines;
use memchr::memmem;

/// Whether `line` is such a message.
pub(super) fn is_message(line: &str) -> bool {
    line.starts_with("{\"reason\":\"") || line.starts_with("{\"$message_type\":\"")
}

/// `text` with each message replaced by its text; messages without one go, except for the verdict.
pub(super) fn rendered(text: &str) -> String {
    let mut out = String::new();
    for line in lines(text) {
        if !is_message(line) {
            out.push_str(line);
            out.push('\n');
        } else if let Some(message) = field(line, "\"rendered\":") {
            out.push_str(&ethos_registry_core::clean::terminal(&message));
            out.push('\n');
        } else if line.starts_with("{\"reason\":\"build-finished\"") {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The string that follows `name` in a JSON object.
fn field(line: &str, name: &str) -> Option<String> {
    // Children of a diagnostic have the field too, without text.
    memmem::find_iter(line.as_bytes(), name.as_bytes()).find_map(|at| {
        let rest = line.get(at + name.len()..)?;
        if !rest.starts_with('"') {
            return None;
        }
        // A stream takes the first value and leaves what follows.
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        values.next()?.ok()
    })
}
