//! The folder of whole outputs, for hooks and for the Python side alike: each is a file of bytes and one of JSON.

use std::env;
use std::fmt;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::files::{create_folder, danger_of, now, read, state_folder, write};

const FOLDER_VARIABLE: &str = "ETHOS_REGISTRY_OUTPUTS";
const MAX_OUTPUTS: usize = 200;
const MAX_AGE_SECONDS: f64 = 7.0 * 24.0 * 3600.0;
/// Of all outputs together.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;
const MAX_FACTS_BYTES: u64 = 4 * 1024 * 1024;
const CLOCK_SLACK_SECONDS: f64 = 3600.0;
/// The year 9999; no calendar shows later times.
const LATEST_SECONDS: f64 = 253_402_214_400.0;
const ID_CHARS: usize = 8;
/// Another output may have the same id.
const MOST_IDS: u32 = 4;

/// What is known about a saved output beside its content.
#[derive(Clone, Debug)]
pub struct SavedOutput {
    /// Eight digits of `0-9` and `a-f`.
    pub id: String,
    /// The command line, without secrets.
    pub command: String,
    /// The exit code; negative if it is not known.
    pub exit_code: i64,
    /// Seconds since the epoch.
    pub started: f64,
    /// The length of the content.
    pub size_bytes: u64,
}

/// Why the folder cannot be used.
#[derive(Debug)]
pub struct ArchiveError {
    /// The number of the error in the operating system.
    pub code: i32,
    /// What is wrong.
    pub reason: String,
    /// With which file.
    pub path: Option<PathBuf>,
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)?;
        match &self.path {
            Some(path) => write!(formatter, ": {}", path.display()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ArchiveError {}

/// A folder of outputs that only the owner may read.
///
/// The newest 200 are kept, for 7 days, up to 1 GiB in all; every method removes the rest. A folder that other users own or
/// may write to is refused, and links in it are not followed.
#[derive(Clone, Debug)]
pub struct Archive {
    folder: PathBuf,
}

impl Archive {
    /// The archive in `$ETHOS_REGISTRY_OUTPUTS`, else where programs of this system keep their state.
    ///
    /// # Errors
    /// There is no home directory.
    pub fn of_environment() -> Result<Self, ArchiveError> {
        let named = env::var_os(FOLDER_VARIABLE).filter(|name| !name.is_empty());
        let folder = named
            .map(PathBuf::from)
            .or_else(|| Some(state_folder()?.join("outputs")));
        folder
            .map(|folder| Self { folder })
            .ok_or_else(|| ArchiveError {
                code: NO_ENTRY,
                reason: format!(
                    "there is no home directory; {FOLDER_VARIABLE} may name another folder"
                ),
                path: None,
            })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Saves an output; its id depends on the command, the exit code and the content only.
    ///
    /// # Errors
    /// It cannot be written, or the folder is not safe.
    pub fn save(
        &self,
        command: &str,
        exit_code: i64,
        started: f64,
        content: &[u8],
    ) -> Result<String, ArchiveError> {
        create_folder(&self.folder).map_err(|error| failed(&error, &self.folder))?;
        self.check()?;
        let id = self
            .id_of(command, exit_code, content)
            .ok_or_else(|| ArchiveError {
                code: EXISTS,
                reason: "no free id".to_owned(),
                path: Some(self.folder.clone()),
            })?;
        let room = MAX_BYTES.saturating_sub(content.len() as u64);
        self.prune(room, MAX_OUTPUTS - 1, Some(&id))?;
        let facts = json!({
            "id": id,
            "command": command,
            "exit_code": exit_code,
            "started": started,
            "size_bytes": content.len(),
        });
        // The facts are written again: an output that is shown again is kept for as long as a new one.
        for (path, bytes) in [
            (self.content_path(&id), content),
            (self.facts_path(&id), facts.to_string().as_bytes()),
        ] {
            if let Err(error) = write(&path, bytes) {
                self.remove(&id);
                return Err(failed(&error, &path));
            }
        }
        Ok(id)
    }

    /// The content of an output; `None` if it is not saved.
    ///
    /// # Errors
    /// The folder cannot be read, or is not safe.
    pub fn read(&self, id: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
        let is_saved = self.all()?.iter().any(|saved| saved.id == id);
        Ok(is_saved
            .then(|| read(&self.content_path(id), MAX_BYTES).ok())
            .flatten())
    }

    /// The saved outputs, the newest first.
    ///
    /// # Errors
    /// The folder cannot be read, or is not safe.
    pub fn all(&self) -> Result<Vec<SavedOutput>, ArchiveError> {
        match fs::symlink_metadata(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            _ => self.check()?,
        }
        self.prune(MAX_BYTES, MAX_OUTPUTS, None)
    }

    fn id_of(&self, command: &str, exit_code: i64, content: &[u8]) -> Option<String> {
        (0..MOST_IDS).find_map(|number| {
            let mut hasher = DefaultHasher::new();
            (command, exit_code, content, number).hash(&mut hasher);
            let id = format!("{:08x}", hasher.finish() >> 32);
            match read(&self.content_path(&id), MAX_BYTES) {
                Ok(saved) if saved != content => None,
                _ => Some(id),
            }
        })
    }

    fn check(&self) -> Result<(), ArchiveError> {
        let folder = fs::metadata(&self.folder).map_err(|error| failed(&error, &self.folder))?;
        if !folder.is_dir() {
            return Err(ArchiveError {
                code: NOT_A_FOLDER,
                reason: "Not a directory".to_owned(),
                path: Some(self.folder.clone()),
            });
        }
        danger_of(&folder).map_or(Ok(()), |danger| {
            Err(ArchiveError {
                code: NOT_PERMITTED,
                reason: format!("the folder is not used, because {danger}"),
                path: Some(self.folder.clone()),
            })
        })
    }

    /// Removes what is too old or too much, beside the output `new`; what is left, the newest first.
    fn prune(
        &self,
        mut room_bytes: u64,
        room_outputs: usize,
        new: Option<&str>,
    ) -> Result<Vec<SavedOutput>, ArchiveError> {
        let mut left: Vec<SavedOutput> = Vec::new();
        let (mut saved, parts) = self.saved()?;
        saved.retain(|saved| Some(saved.id.as_str()) != new);
        saved.sort_by(|one, other| {
            let newest_first = other.started.total_cmp(&one.started);
            newest_first.then_with(|| one.id.cmp(&other.id))
        });
        let now = now();
        let mut is_full = false;
        for saved in saved {
            let age = now - saved.started;
            is_full = is_full || saved.size_bytes > room_bytes;
            room_bytes = room_bytes.saturating_sub(saved.size_bytes);
            let is_timely = -CLOCK_SLACK_SECONDS < age && age < MAX_AGE_SECONDS;
            if left.len() >= room_outputs || !is_timely || is_full {
                self.remove(&saved.id);
            } else {
                left.push(saved);
            }
        }
        // Of writers that were killed before they had written both files.
        for part in parts {
            let modified = fs::symlink_metadata(&part).and_then(|part| part.modified());
            let age = modified.ok().and_then(|time| time.elapsed().ok());
            if age.is_some_and(|age| age.as_secs_f64() > MAX_AGE_SECONDS) {
                let _ = fs::remove_file(&part);
            }
        }
        Ok(left)
    }

    /// The outputs with both files, and the files that belong to none.
    fn saved(&self) -> Result<(Vec<SavedOutput>, Vec<PathBuf>), ArchiveError> {
        let entries = fs::read_dir(&self.folder).map_err(|error| failed(&error, &self.folder))?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let ours = |path: &PathBuf| {
            path.file_stem()
                .and_then(|id| id.to_str())
                .is_some_and(is_id)
        };
        let (mut saved, mut parts) = (Vec::new(), Vec::new());
        for path in paths.filter(ours) {
            match path
                .extension()
                .and_then(|extension| extension.to_str())
                .unwrap_or_default()
            {
                "json" => match self.facts(&path) {
                    Some(facts) => saved.push(facts),
                    None => parts.extend([path.with_extension("out"), path]),
                },
                "out" if !path.with_extension("json").exists() => parts.push(path),
                "out" => {}
                _ => parts.push(path),
            }
        }
        Ok((saved, parts))
    }

    fn facts(&self, path: &Path) -> Option<SavedOutput> {
        let facts: Value = serde_json::from_slice(&read(path, MAX_FACTS_BYTES).ok()?).ok()?;
        let id = facts.get("id")?.as_str()?;
        let started = facts.get("started")?.as_f64()?;
        let is_valid =
            path.file_stem()?.to_str()? == id && (0.0..LATEST_SECONDS).contains(&started);
        let on_disk = fs::symlink_metadata(self.content_path(id)).ok()?.len();
        is_valid.then_some(SavedOutput {
            id: id.to_owned(),
            command: facts.get("command")?.as_str()?.to_owned(),
            exit_code: facts.get("exit_code")?.as_i64()?,
            started,
            size_bytes: facts.get("size_bytes")?.as_u64()?.max(on_disk),
        })
    }

    fn remove(&self, id: &str) {
        for path in [self.facts_path(id), self.content_path(id)] {
            let _ = fs::remove_file(path);
        }
    }

    fn content_path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.out"))
    }

    fn facts_path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

const NOT_PERMITTED: i32 = 1;
const NO_ENTRY: i32 = 2;
const EXISTS: i32 = 17;
const NOT_A_FOLDER: i32 = 20;

/// Whether `text` has the form of an id.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == ID_CHARS && text.bytes().all(is_digit)
}

fn failed(error: &io::Error, path: &Path) -> ArchiveError {
    let message = error.to_string();
    let reason = message
        .split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned();
    ArchiveError {
        code: error.raw_os_error().unwrap_or_default(),
        reason,
        path: Some(path.to_owned()),
    }
}
