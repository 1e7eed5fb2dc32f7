//! The files of this machine.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ethos_registry_core::redact::redact;
use ethos_registry_reduce::ledger::Ledger;
use serde_json::{Value, json};

use crate::archive::Archive;
use crate::files::now;
use crate::{Archived, Delivered, Host, MAX_PAYLOAD_BYTES, Saved, Session, session};

/// Where an administrator sets rules for Claude Code.
const MANAGED: [&str; 3] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
    "C:\\ProgramData\\ClaudeCode\\managed-settings.json",
];
/// What is saved as the exit code if none is known: it must not look like a success.
const UNKNOWN_EXIT_CODE: i64 = -1;
const LEDGER_VARIABLE: &str = "ETHOS_REGISTRY_LEDGER";
const SAVE_VARIABLE: &str = "ETHOS_REGISTRY_SAVE";

/// Reads files, and saves outputs in the folder of `ethos-registry recall`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Host for Machine {
    fn read(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        path.is_absolute().then(|| read(path)).flatten()
    }

    fn save(&self, output: &Saved<'_>) -> Archived {
        if !is_wanted(SAVE_VARIABLE) {
            return Archived::Unwanted;
        }
        let saved = || {
            let redacted = redact(output.text, None).ok()?;
            let text = redacted.as_deref().unwrap_or(output.text).as_bytes();
            let exit_code = output.exit_code.unwrap_or(UNKNOWN_EXIT_CODE);
            let archive = Archive::of_environment().ok()?;
            archive.save(&output.program, exit_code, now(), text).ok()
        };
        saved().map_or(Archived::Failed, Archived::Id)
    }

    fn has_command_rules(&self, folder: &str) -> bool {
        let user = env::var_os("CLAUDE_CONFIG_DIR")
            .map(PathBuf::from)
            .or_else(|| Some(env::home_dir()?.join(".claude")));
        let folders = Path::new(folder)
            .ancestors()
            .map(|each| each.join(".claude"));
        let files = folders.chain(user).flat_map(|folder| {
            ["settings.json", "settings.local.json"].map(|name| folder.join(name))
        });
        files
            .chain(MANAGED.map(PathBuf::from))
            .any(|file| file.exists() && has_rules(&file))
    }

    fn ledger(&self, session: &Session<'_>) -> Option<Ledger> {
        has_ledger().then(|| session::ledger(session)).flatten()
    }

    fn record(&self, session: &Session<'_>, delivered: &[Delivered]) {
        if has_ledger() {
            session::record(session, delivered);
        }
    }

    fn forget(&self, session: &Session<'_>) {
        if has_ledger() {
            session::forget(session);
        }
    }

    fn measure(&self, row: &Value) {
        measure(row.clone());
    }
}

fn measure(mut row: Value) {
    if let Some(fields) = row.as_object_mut()
        && is_wanted(SAVE_VARIABLE)
    {
        fields.insert("time".to_owned(), json!(now()));
        session::measure(&row);
    }
}

/// Records that a saved output was asked for again.
pub fn note_recall(id: &str, chars: usize) {
    measure(json!({"recall": id, "chars": chars}));
}

/// What was measured, each a line of JSON, the oldest first.
#[must_use]
pub fn measured() -> Vec<String> {
    session::measured().unwrap_or_default()
}

fn is_wanted(variable: &str) -> bool {
    let choice = env::var(variable).unwrap_or_default();
    !["0", "no", "off", "false"].contains(&choice.trim().to_ascii_lowercase().as_str())
}

/// A reference must be to something that can be read again.
fn has_ledger() -> bool {
    is_wanted(SAVE_VARIABLE) && is_wanted(LEDGER_VARIABLE)
}

/// Whether a file denies commands or asks for approval; also if it cannot be understood.
fn has_rules(file: &Path) -> bool {
    let Some(settings) = read(file).and_then(|text| serde_json::from_str::<Value>(&text).ok())
    else {
        return true;
    };
    ["deny", "ask"].iter().any(|list| {
        let rules = settings.pointer(&format!("/permissions/{list}"));
        rules.is_some_and(|rules| match rules.as_array() {
            Some(rules) => rules.iter().any(|rule| {
                let tool = rule.as_str().and_then(|rule| rule.split('(').next());
                tool.is_none_or(|tool| tool == "Bash" || tool.contains('*'))
            }),
            None => true,
        })
    })
}

fn read(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_PAYLOAD_BYTES).ok()? + 1;
    file.take(limit).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= MAX_PAYLOAD_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned())
}
