//! The files of this machine.

use std::env;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ethos_registry_core::redact::redact;
use serde_json::Value;

use crate::archive::Archive;
use crate::{Archived, Host, MAX_PAYLOAD_BYTES, Saved};

/// Where an administrator sets rules for Claude Code.
const MANAGED: [&str; 3] = [
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
    "C:\\ProgramData\\ClaudeCode\\managed-settings.json",
];
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
        let choice = env::var(SAVE_VARIABLE).unwrap_or_default();
        if ["0", "no", "off", "false"].contains(&choice.trim().to_ascii_lowercase().as_str()) {
            return Archived::Unwanted;
        }
        let saved = || {
            let redacted = redact(output.text, None).ok()?;
            let text = redacted.as_deref().unwrap_or(output.text);
            Archive::new()?.save(&output.program, output.exit_code, text)
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
