//! What rsync copied: the names under their folders, the last state of its progress, its totals.

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::names::{Alike, FOLDS, Fold, Folders, side_by_side};
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "rsync",
    runs: |input| input.program() == "rsync",
    marks: Marks::Never,
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// Deleted files, complaints and other sentences that are shown.
const SENTENCES: usize = 100;
/// So few deleted files have a row each, and this many are shown together.
const FEW_DELETED: usize = 12;
const MOST_DELETED: usize = 4_096;
/// From here on names are identified by their kinds, and from there on by few of each.
const MANY_BYTES: usize = 4_000;
const VERY_MANY_BYTES: usize = 20_000;
/// Letters and signs before a name that say what changes: `>f.st......`.
const CHANGE_BYTES: usize = 11;
/// How sentences begin.
static SENTENCE: Beginnings<21> = Beginnings::new([
    "rsync",
    "created directory ",
    "created 1 directory ",
    "deleting ",
    "*deleting ",
    "cannot delete ",
    "skipping ",
    "file has vanished: ",
    "IO error",
    "WARNING: ",
    "ERROR: ",
    "sent ",
    "total size is ",
    "total: ",
    "Number of ",
    "Total ",
    "Literal data: ",
    "Matched data: ",
    "ssh: ",
    "Permission denied",
    "Host key verification failed",
]);
/// How lines begin that tell nothing.
static NOISE: Beginnings<8> = Beginnings::new([
    "sending incremental file list",
    "receiving incremental file list",
    "receiving file list ...",
    "sending file list ...",
    "building file list ...",
    "delta-transmission ",
    "File list ",
    "opening connection using",
]);
/// Which sentences tell of a failure.
static FAILURES: Beginnings<9> = Beginnings::new([
    "rsync: ",
    "rsync error: ",
    "rsync warning: ",
    "rsync(",
    "file has vanished: ",
    "IO error",
    "ssh: ",
    "Permission denied",
    "Host key verification failed",
]);

fn recognises(input: &Input<'_>) -> Match {
    let known = |line: &str| {
        SENTENCE.begin(line) || NOISE.begin(line) || is_progress(line) || line.contains('/')
    };
    if (FAMILY.runs)(input) && input.beginning().any(known) {
        Match::Likely
    } else {
        Match::No
    }
}

/// Whether `line` states how much of a file, or of all, is copied: ` 1,714  2%  1.59MB/s  0:00:00 (xfr#4, …)`.
fn is_progress(line: &str) -> bool {
    let text = line.trim_ascii_start();
    text.starts_with(|sign: char| sign.is_ascii_digit())
        && text.find_text("% ").is_some()
        && text.find_text("B/s ").is_some()
}

/// What changes of a file by `--itemize-changes`, and its name.
fn change(line: &str) -> Option<(&str, &str)> {
    let (change, name) = line.split_at_checked(CHANGE_BYTES)?;
    let mut signs = change.bytes();
    let is_change = matches!(signs.next(), Some(b'<' | b'>' | b'c' | b'h' | b'.'))
        && matches!(signs.next(), Some(b'f' | b'd' | b'L' | b'D' | b'S'))
        && signs
            .all(|sign| sign.is_ascii_alphabetic() || matches!(sign, b'.' | b'+' | b'?' | b' '));
    Some((change.trim_ascii_end(), name.strip_prefix(' ')?)).filter(|_| is_change)
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let bytes = input.text.len();
    let folds = if output.asked_lines() > 0 {
        FOLDS.get(..1)
    } else if bytes < MANY_BYTES {
        FOLDS.get(..2)
    } else if bytes < VERY_MANY_BYTES {
        FOLDS.get(..8)
    } else {
        Some(FOLDS.as_slice())
    };
    let mut folders = Folders::new(
        folds.unwrap_or_default(),
        input.target_chars(),
        bytes,
        output,
    );
    let mut progress = None;
    let mut deleted = Vec::new();
    let (mut sentences, mut left_out) = (0, 0);
    let mut lines = input.lines();
    while let Some(line) = lines.next() {
        if line.is_empty() || NOISE.begin(line) {
            continue;
        }
        if is_progress(line) {
            progress = Some(line);
            continue;
        }
        if let Some(name) = line.strip_prefix("deleting ")
            && deleted.len() < MOST_DELETED
        {
            if deleted.is_empty() {
                folders.write(lines.unread_bytes());
            }
            deleted.push(name);
            continue;
        }
        write_deleted(&mut deleted, folders.output);
        if SENTENCE.begin(line) {
            folders.write(lines.unread_bytes());
            let failed = FAILURES.begin(line);
            sentences += 1;
            if failed {
                folders.output.failed();
            }
            if sentences <= SENTENCES || failed || line.starts_with("total size is ") {
                folders.output.gap(std::mem::take(&mut left_out));
                folders.output.fact(&shorten(line.trim_end(), LINE_CHARS));
            } else {
                left_out += 1;
            }
            continue;
        }
        let (note, path) = change(line).unwrap_or(("", line));
        let note = if note.ends_with("+++++++++") {
            ""
        } else {
            note
        };
        name(&mut folders, path, note);
        if folders.is_full() {
            folders.write(lines.unread_bytes());
        }
    }
    write_deleted(&mut deleted, folders.output);
    folders.write(0);
    output.gap(left_out);
    if let Some(progress) = progress {
        output.fact(progress.trim());
    }
}

/// Writes the names of files that were deleted one after the other, side by side if they are many.
fn write_deleted(names: &mut Vec<&str>, output: &mut Output) {
    if names.len() <= FEW_DELETED {
        for name in names.iter() {
            output.fact(&format!("deleting {name}"));
        }
    } else {
        let (row, shown) = side_by_side(names, Fold::new(Alike::Numbers, 2));
        output.summary(&format!("deleting {row}"), shown);
    }
    names.clear();
}

/// Adds a file to its folder, or a folder.
fn name<'a>(folders: &mut Folders<'a, '_>, path: &'a str, note: &'a str) {
    if path.ends_with('/') && note.is_empty() {
        return folders.open_as(path);
    }
    let entry = path.strip_suffix('/').unwrap_or(path);
    let at = memchr::memrchr(b'/', entry.as_bytes()).map_or(0, |at| at + 1);
    let (folder, name) = path.split_at_checked(at).unwrap_or(("", path));
    folders.add(folder, name, note);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use std::fmt::Write as _;

    use crate::input::Exit;
    use crate::pipeline::terminal;

    fn reduced(text: &str, exit: Exit) -> (String, &'static str) {
        let (reduced, family) =
            terminal::reduce(text, Some("rsync -av a b"), exit, usize::MAX).unwrap();
        (reduced, family.unwrap_or_default())
    }

    fn copied(files: usize) -> String {
        let mut text =
            String::from("sending incremental file list\ncreated directory /tmp/oak\n./\nbark/\n");
        for file in 0..files {
            let _ = writeln!(text, "bark/ring_{file}.js");
            if file % 50 == 49 {
                let _ = writeln!(
                    text,
                    "   {file} 100%  1.59MB/s  0:00:00 (xfr#{file}, to-chk=0/9)"
                );
            }
        }
        text.push_str("bark/odd.txt\nleaf/\nleaf/vein.css\n");
        text
    }

    #[test]
    fn names_stand_under_their_folders_and_only_the_last_progress_stays() {
        let text = copied(300)
            + "sent 1,234 bytes  received 35 bytes  846.00 bytes/sec\ntotal size is 99  speedup is 0.08\n";
        let (short, family) = reduced(&text, Exit::Success);
        assert_eq!(family, "rsync");
        for fact in [
            "created directory /tmp/oak\n",
            "bark/: ring_0.js … ring_299.js (300) odd.txt\n",
            "leaf/: vein.css\n",
            "sent 1,234 bytes  received 35 bytes",
            "total size is 99  speedup is 0.08\n",
            "(xfr#299, to-chk=0/9)\n",
        ] {
            assert!(short.contains(fact), "{fact}: {short}");
        }
        assert!(!short.contains("(xfr#249"), "{short}");
    }

    #[test]
    fn what_was_deleted_and_what_failed_is_told() {
        let text = copied(40)
            + "deleting bark/old.js\nrsync: [sender] send_files failed to open \"/srv/key\": Permission denied (13)\n\
               rsync error: some files/attrs were not transferred (code 23) at main.c(1338) [sender=3.2.7]\n";
        let (short, family) = reduced(&text, Exit::Failure);
        assert_eq!(family, "rsync");
        assert!(
            short.contains("deleting bark/old.js\nrsync: [sender] send_files failed"),
            "{short}"
        );
        assert!(short.contains("(code 23) at main.c(1338)"), "{short}");
    }

    #[test]
    fn many_deleted_files_stand_side_by_side() {
        let mut text = copied(40);
        for file in 0..30 {
            let _ = writeln!(text, "deleting bark/old_{file}.js");
        }
        text.push_str("deleting bark/odd.css\n");
        let (short, _) = reduced(&text, Exit::Success);
        assert!(
            short.contains("deleting bark/old_0.js … bark/old_29.js (30) bark/odd.css\n"),
            "{short}"
        );
    }

    #[test]
    fn a_failed_run_that_names_files_only_is_left_to_others() {
        let command = Some("rsync -av a b");
        let reduced = terminal::reduce(&copied(90), command, Exit::Failure, usize::MAX);
        assert!(reduced.is_none_or(|(_, family)| family != Some("rsync")));
    }

    #[test]
    fn what_changes_of_a_file_stands_beside_it_unless_it_is_new() {
        let mut text = String::new();
        for file in 0..30 {
            let _ = writeln!(text, ">f+++++++++ bark/branch/ring_{file}.js");
        }
        text.push_str(">f.st...... bark/branch/leaf.css\n.d..t...... ./\n");
        let (short, _) = reduced(&text, Exit::Success);
        assert!(
            short.starts_with("bark/branch/: ring_0.js … ring_29.js (30) leaf.css >f.st......\n"),
            "{short}"
        );
    }
}
