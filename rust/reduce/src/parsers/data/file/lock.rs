//! Lock files of package managers: names and versions.

use crate::input::Input;
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

/// Names of lock files.
const NAMES: [&str; 13] = [
    "Cargo.lock",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "composer.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "go.sum",
    "requirements.lock",
];
/// A row of packages has at least this many bytes.
const ROW_BYTES: usize = 160;

/// Whether `path` is one of a lock file.
pub(super) fn is_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    NAMES.contains(&name)
}

/// The packages with their versions, several in succession.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut row = String::new();
    let mut packages = 0;
    let mut name = "";
    let mut last = ("", "");
    for source in input.lines() {
        let (new_name, version) = read(source);
        if let Some(new_name) = new_name {
            name = new_name;
        }
        let Some(version) = version.filter(|_| !name.is_empty()) else {
            continue;
        };
        let package = (std::mem::take(&mut name), version);
        if package == last {
            continue;
        }
        last = package;
        row.push_str(if row.is_empty() { "" } else { ", " });
        row.push_str(package.0);
        row.push(' ');
        row.push_str(package.1);
        packages += 1;
        if row.len() >= ROW_BYTES {
            output.summary(&row, std::mem::take(&mut packages));
            row.clear();
        }
    }
    if !row.is_empty() {
        output.summary(&row, packages);
    }
}

/// The name of a package that is in `line`, and the version that does.
fn read(line: &str) -> (Option<&str>, Option<&str>) {
    let text = line.trim();
    // TOML: `name = "alpha"`; JSON: `"name": "alpha"`, `"version": "1.0"`.
    for (key, is_version) in [
        ("name = ", false),
        ("\"name\": ", false),
        ("version = ", true),
        ("\"version\": ", true),
        ("version ", true),
        ("version: ", true),
    ] {
        if let Some(value) = text.strip_prefix(key) {
            let value = value.trim_end_matches(',').trim_matches('"');
            return if is_version {
                (None, Some(value))
            } else {
                (Some(value), None)
            };
        }
    }
    if let Some(key) = text.strip_suffix('{') {
        let key = key.trim().trim_end_matches(':').trim_matches('"');
        let name = key.rsplit("node_modules/").next().unwrap_or(key);
        return (Some(name), None);
    }
    if let Some(key) = text.strip_suffix(':') {
        return key_of_yaml(key);
    }
    // `alpha==1.0 \` of pip, `module v1.0.0 h1:…` of Go, `    alpha (1.0)` of Bundler.
    if let Some((name, version)) = text.split_text("==").filter(|(name, _)| is_package(name)) {
        let version = version.split([' ', ';', '\\']).next();
        return (Some(name), version);
    }
    let mut words = text.split(' ');
    match (words.next(), words.next(), words.next()) {
        (Some(name), Some(version), Some(sum))
            if sum.starts_with("h1:") && !version.ends_with("/go.mod") =>
        {
            (Some(name), Some(version))
        }
        (Some(name), Some(version), None)
            if line.starts_with("    ") && !line.starts_with("     ") =>
        {
            let version = version
                .strip_prefix('(')
                .and_then(|version| version.strip_suffix(')'));
            (version.map(|_| name), version)
        }
        _ => (None, None),
    }
}

/// Whether `name` can be that of a package of Python, maybe with its extras: a marker of an environment
/// compares as well, `"python_version == '3.11.*'"`.
fn is_package(name: &str) -> bool {
    name.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        && name.bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'[' | b']' | b',')
        })
}

/// `"@a/b@^1.0.0", "@a/b@^1.2.0"` of yarn, `/a@1.0.0` and `'@a/b@1.0.0'` of pnpm.
fn key_of_yaml(key: &str) -> (Option<&str>, Option<&str>) {
    let first = key.split(", ").next().unwrap_or(key);
    let first = first.trim_matches(['"', '\'']).trim_start_matches('/');
    match first.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() => {
            let exact =
                version.starts_with(|sign: char| sign.is_ascii_digit()) && !key.contains('"');
            let name = name.split("@npm:").next().unwrap_or(name);
            (Some(name), Some(version).filter(|_| exact))
        }
        _ => (None, None),
    }
}
