//! The folder of `ethos-registry recall`, in the format of its Python side.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::json;

const FOLDER_VARIABLE: &str = "ETHOS_REGISTRY_OUTPUTS";
const MAX_OUTPUTS: usize = 200;
/// Of all outputs together.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Another output may have the same id.
const MOST_IDS: u32 = 4;
/// What is saved as the exit code if none is known: it must not look like a success.
const UNKNOWN_EXIT_CODE: i64 = -1;

pub(crate) struct Archive {
    folder: PathBuf,
}

impl Archive {
    pub(crate) fn new() -> Option<Self> {
        let named = env::var_os(FOLDER_VARIABLE).filter(|name| !name.is_empty());
        let folder = match named {
            Some(named) => PathBuf::from(named),
            None => state_folder()?.join("outputs"),
        };
        Some(Self { folder })
    }

    /// Saves an output; its id depends on the text and the exit code only.
    pub(crate) fn save(&self, program: &str, exit_code: Option<i64>, text: &str) -> Option<String> {
        self.prepare().ok()?;
        let exit_code = exit_code.unwrap_or(UNKNOWN_EXIT_CODE);
        for number in 0..MOST_IDS {
            let mut hasher = DefaultHasher::new();
            (text, exit_code, number).hash(&mut hasher);
            let id = format!("{:08x}", hasher.finish() >> 32);
            let path = self.folder.join(format!("{id}.out"));
            match fs::read(&path) {
                Ok(saved) if saved == text.as_bytes() => {}
                Ok(_) => continue,
                Err(_) => {
                    self.make_room(text.len() as u64);
                    write(&path, text.as_bytes()).ok()?;
                }
            }
            let facts = json!({
                "id": id,
                "command": program,
                "exit_code": exit_code,
                "started": now(),
                "size_bytes": text.len(),
            });
            // Written again: an output that is shown again is kept for as long as a new one.
            let facts_path = self.folder.join(format!("{id}.json"));
            write(&facts_path, facts.to_string().as_bytes()).ok()?;
            return Some(id);
        }
        None
    }

    #[cfg(unix)]
    fn prepare(&self) -> io::Result<()> {
        use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};

        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let folder = fs::metadata(&self.folder)?;
        if folder.uid() != rustix::process::geteuid().as_raw() || folder.mode() & 0o022 != 0 {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(())
    }

    #[cfg(not(unix))]
    fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)
    }

    /// Removes the oldest outputs where there are too many or too much with `bytes` more.
    fn make_room(&self, bytes: u64) {
        let mut saved: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let metadata = fs::symlink_metadata(&path).ok()?;
                let is_output = path.extension() == Some(OsStr::new("out"));
                is_output.then_some((metadata.modified().ok()?, metadata.len(), path))
            })
            .collect();
        saved.sort_unstable_by(|one, other| other.cmp(one));
        let mut all_bytes = bytes;
        for (number, (_, size, path)) in saved.iter().enumerate() {
            all_bytes = all_bytes.saturating_add(*size);
            if number + 1 >= MAX_OUTPUTS || all_bytes > MAX_BYTES {
                for each in [path, &path.with_extension("json")] {
                    let _ = fs::remove_file(each);
                }
            }
        }
    }
}

/// Replaces the file in one step, so that no reader sees a part of it, and no link is followed.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let _ = fs::remove_file(&new);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&new)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long an output is kept depends on it"
)]
fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// Where programs of this system keep their state, as the package platformdirs names it.
fn state_folder() -> Option<PathBuf> {
    let name = "ethos-registry";
    if cfg!(windows) {
        let local = env::var_os("LOCALAPPDATA").map(PathBuf::from)?;
        return Some(local.join(name).join(name));
    }
    let home = env::home_dir()?;
    if cfg!(target_os = "macos") {
        return Some(home.join("Library/Application Support").join(name));
    }
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute());
    Some(
        state
            .unwrap_or_else(|| home.join(".local/state"))
            .join(name),
    )
}
