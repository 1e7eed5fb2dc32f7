//! The log of a session: what the agent's model was shown, one JSON record a line, appended under a lock.
//!
//! A record that cannot be read, as of a writer that was killed, makes everything before it count as forgotten.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ethos_registry_reduce::ledger::{Ledger, Shown, line_hash};
use serde_json::{Value, json};

use crate::archive::Archive;
use crate::files::{create_folder, danger_of, now, read};
use crate::{Delivered, Session};

/// A longer log is replaced by a new one.
const MAX_LOG_BYTES: u64 = 8 * 1024 * 1024;
/// So much is read of what an agent wrote into its transcript since.
const MAX_TRANSCRIPT_BYTES: u64 = 32 * 1024 * 1024;
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
/// After a pause, agents may clear old results without a sign.
const PAUSE_SECONDS: f64 = 1800.0;
/// In a transcript, these state that results left the context.
const BOUNDARIES: [&str; 2] = ["compact_boundary", "Old tool result content cleared"];
const MEASURED: &str = "measured.jsonl";

/// The folder of logs, and of what was measured.
pub(crate) fn folder() -> Option<PathBuf> {
    let folder = Archive::of_environment().ok()?.folder().join("sessions");
    create_folder(&folder).ok()?;
    let is_safe = |folder: &Path| {
        fs::metadata(folder).is_ok_and(|found| found.is_dir() && danger_of(&found).is_none())
    };
    (is_safe(&folder) && is_safe(folder.parent()?)).then_some(folder)
}

fn path_of(session: &Session<'_>) -> Option<PathBuf> {
    let name = [0, 1].map(|key| line_hash(key, session.id));
    Some(folder()?.join(format!(
        "{}-{:016x}{:016x}.jsonl",
        session.agent, name[0], name[1]
    )))
}

/// What the model still has in its context; `None` where that is not known.
pub(crate) fn ledger(session: &Session<'_>) -> Option<Ledger> {
    let log = read(&path_of(session)?, MAX_LOG_BYTES + 1).ok()?;
    if log.len() as u64 > MAX_LOG_BYTES {
        return None;
    }
    let mut lines = log.split(|byte| *byte == b'\n');
    let mut ledger = Ledger::new(key_of(lines.next()?)?);
    let (mut last, mut transcript_bytes) = (0.0, None);
    for line in lines.filter(|line| !line.is_empty()) {
        if let Some((shown, time, bytes)) = record_of(line, session.prompt) {
            if !(0.0..PAUSE_SECONDS).contains(&(time - last)) {
                ledger.forget();
                transcript_bytes = None;
            }
            ledger.record(shown);
            transcript_bytes = transcript_bytes.or(Some(bytes));
            last = time;
        } else {
            ledger.forget();
            transcript_bytes = None;
        }
    }
    let is_recent = (0.0..PAUSE_SECONDS).contains(&(now() - last));
    (is_recent && is_kept(session.transcript, transcript_bytes?)).then_some(ledger)
}

fn key_of(line: &[u8]) -> Option<u128> {
    let record: Value = serde_json::from_slice(line).ok()?;
    u128::from_str_radix(record.get("key")?.as_str()?, 16).ok()
}

/// What was shown for the same prompt, when it was delivered, and how long the transcript was.
fn record_of(line: &[u8], prompt: &str) -> Option<(Shown, f64, u64)> {
    let record: Value = serde_json::from_slice(line).ok()?;
    if record.get("prompt")?.as_str()? != prompt {
        return None;
    }
    let hashes = record.get("lines")?.as_str()?.split_terminator(' ');
    let shown = Shown {
        label: record.get("label")?.as_str()?.to_owned(),
        lines: hashes
            .map(|hash| u64::from_str_radix(hash, 16).ok())
            .collect::<Option<_>>()?,
        chars: usize::try_from(record.get("chars")?.as_u64()?).ok()?,
    };
    Some((
        shown,
        record.get("time")?.as_f64()?,
        record.get("transcript")?.as_u64()?,
    ))
}

/// Whether a transcript has only grown since it had `bytes`, without a sign that results left the context.
fn is_kept(transcript: &str, bytes: u64) -> bool {
    let added = || -> io::Result<Option<Vec<u8>>> {
        let mut file = File::open(transcript)?;
        let all = file.metadata()?.len();
        if all < bytes || all - bytes > MAX_TRANSCRIPT_BYTES {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(bytes))?;
        let mut added = Vec::new();
        file.take(MAX_TRANSCRIPT_BYTES).read_to_end(&mut added)?;
        Ok(Some(added))
    };
    added().ok().flatten().is_some_and(|added| {
        let added = String::from_utf8_lossy(&added);
        !BOUNDARIES.iter().any(|sign| added.contains(sign))
    })
}

/// Records results as they reached the model.
pub(crate) fn record(session: &Session<'_>, delivered: &[Delivered]) -> Option<()> {
    let transcript = fs::metadata(session.transcript).ok()?.len();
    let time = now();
    let records = |key: u128| {
        delivered.iter().map(move |each| {
            let shown = Shown::of(&each.label, &each.text, key);
            let hashes: Vec<String> = shown.lines.iter().map(|hash| format!("{hash:x}")).collect();
            json!({
                "prompt": session.prompt,
                "label": shown.label,
                "lines": hashes.join(" "),
                "chars": shown.chars,
                "time": time,
                "transcript": transcript,
            })
        })
    };
    append(&path_of(session)?, records).ok()
}

/// The model may have lost its context: nothing is referred to any more.
pub(crate) fn forget(session: &Session<'_>) {
    let Some(path) = path_of(session) else {
        return;
    };
    // A new key makes every earlier record useless, also those of a writer that still has the file open.
    if fs::remove_file(&path).is_err() {
        let _ = OpenOptions::new().write(true).truncate(true).open(path);
    }
}

/// Appends records to a log, which begins with a key of its own.
fn append<R: Iterator<Item = Value>>(
    path: &Path,
    records: impl FnOnce(u128) -> R,
) -> io::Result<()> {
    let mut file = opened(path)?;
    lock(&file)?;
    let bytes = file.metadata()?.len();
    if bytes > MAX_LOG_BYTES {
        return fs::remove_file(path);
    }
    let mut text = Vec::new();
    let key = if bytes == 0 {
        remove_old(path);
        let random = || u128::from(RandomState::new().hash_one(path));
        let key = (random() << 64) | random();
        text.extend(format!("{}\n", json!({"key": format!("{key:x}")})).bytes());
        key
    } else {
        let log = read(path, MAX_LOG_BYTES)?;
        if log.last() != Some(&b'\n') {
            text.push(b'\n');
        }
        let first = log.split(|byte| *byte == b'\n').next().unwrap_or_default();
        match key_of(first) {
            Some(key) => key,
            None => return fs::remove_file(path),
        }
    };
    for record in records(key) {
        text.extend(format!("{record}\n").bytes());
    }
    file.write_all(&text)
}

fn opened(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options
            .mode(0o600)
            .custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    options.open(path)
}

#[cfg(unix)]
fn lock(file: &File) -> io::Result<()> {
    use std::thread::sleep;

    use rustix::fs::{FlockOperation, flock};

    const LOCK_TRIES: u32 = 20;
    const LOCK_WAIT: Duration = Duration::from_millis(2);
    for _ in 0..LOCK_TRIES {
        if flock(file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok(());
        }
        sleep(LOCK_WAIT);
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Without locks nothing is recorded, and nothing referred to.
#[cfg(not(unix))]
fn lock(_file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn remove_old(path: &Path) {
    let entries = path
        .parent()
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten();
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|found| found.modified());
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > MAX_AGE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The lines of what was measured, the oldest first.
pub(crate) fn measured() -> Option<Vec<String>> {
    let path = folder()?.join(MEASURED);
    let files = [path.with_extension("old"), path];
    let texts = files.map(|file| read(&file, 2 * MAX_LOG_BYTES).unwrap_or_default());
    let texts = texts.map(|text| String::from_utf8_lossy(&text).into_owned());
    let lines = texts.iter().flat_map(|text| text.lines());
    Some(lines.map(str::to_owned).collect())
}

/// Appends a row to what was measured; a long file is put aside, and then replaced.
pub(crate) fn measure(row: &Value) -> Option<()> {
    let path = folder()?.join(MEASURED);
    if fs::metadata(&path).is_ok_and(|found| found.len() > MAX_LOG_BYTES) {
        let _ = fs::rename(&path, path.with_extension("old"));
    }
    let mut file = opened(&path).ok()?;
    lock(&file).ok()?;
    file.write_all(format!("{row}\n").as_bytes()).ok()
}
