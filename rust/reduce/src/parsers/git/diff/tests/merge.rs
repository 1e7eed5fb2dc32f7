//! Merges with conflicts.

use super::*;

#[test]
fn of_a_merge_with_conflicts_these_stay_whole_and_what_merged_goes() {
    let mut text = String::from("diff --cc a.py\n--- a/a.py\n+++ b/a.py\n");
    for hunk in 0..9 {
        let _ = write!(
            text,
            "@@@ -{hunk},3 -{hunk},3 +{hunk},9 @@@\n  context\n++<<<<<<< HEAD\n +ours({hunk})\n++=======\n+ \
                 theirs({hunk})\n++>>>>>>> main\n@@@ -2{hunk},3 -2{hunk},3 +2{hunk},4 @@@\n  context\n+ \
                 merged({hunk})\n"
        );
    }
    let short = reduced(&text, "git diff");
    for hunk in 0..9 {
        let told = format!(
            "@@@ -{hunk},3 -{hunk},3 +{hunk},9 @@@\n++<<<<<<< HEAD\n +ours({hunk})\n++=======\n+ \
                 theirs({hunk})\n++>>>>>>> main\n"
        );
        assert!(short.contains(&told), "{told}: {short}");
    }
    assert!(
        !short.contains("merged(") && short.contains("[9 lines left out]\n"),
        "{short}"
    );
}

#[test]
fn of_a_merge_with_conflicts_what_both_sides_took_goes() {
    let hunk = |at: u32| {
        format!(
            "@@@ -{at},4 -{at},4 +{at},9 @@@\n -old import {at}\n +new import {at}\n++<<<<<<< HEAD\n +leaf of oak {at}\n\
             ++=======\n+ leaf of elm {at}\n++>>>>>>> elm\n +after {at}\n"
        )
    };
    let text = format!(
        "diff --cc src/oak.py\nindex 1,2..0\n--- a/src/oak.py\n+++ b/src/oak.py\n{}{}",
        hunk(1),
        hunk(40)
    );
    let told = reduced(&text, "git diff");
    for fact in [
        "@@@ -40,4 -40,4 +40,9 @@@",
        "++<<<<<<< HEAD\n +leaf of oak 1\n++=======\n+ leaf of elm 1\n++>>>>>>> elm",
        " +leaf of oak 40",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
    assert!(
        !told.contains("import") && !told.contains("after"),
        "{told}"
    );
}
