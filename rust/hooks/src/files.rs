//! Files and folders that only their owner may read.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[cfg(unix)]
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Why other users could change what is in a folder.
#[cfg(unix)]
pub(crate) fn danger_of(folder: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    let mode = folder.mode() & 0o7777;
    if folder.uid() != rustix::process::geteuid().as_raw() {
        return Some("another user owns it".to_owned());
    }
    (mode & 0o022 != 0).then(|| format!("other users may write to it (mode {mode:04o}); chmod 700"))
}

#[cfg(not(unix))]
pub(crate) fn danger_of(_folder: &fs::Metadata) -> Option<String> {
    None
}

/// The content of a regular file; a link or a pipe has none.
pub(crate) fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file: File = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut content = Vec::new();
    file.take(max_bytes).read_to_end(&mut content)?;
    Ok(content)
}

/// Replaces the file in one step, so that no reader sees a part of it, and no link is followed.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
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

/// Seconds since the epoch.
#[expect(
    clippy::disallowed_methods,
    reason = "how long an output is kept depends on it"
)]
pub(crate) fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// Where programs of this system keep their state, as the package platformdirs names it.
pub(crate) fn state_folder() -> Option<PathBuf> {
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
