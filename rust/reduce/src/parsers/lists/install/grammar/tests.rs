use super::Line::Bad;
use super::*;

#[test]
fn lines_are_told_by_how_they_begin() {
    for (text, expected) in [
        ("  Downloading a-1.whl (2 kB)", Some(Noise)),
        (
            "  Preparing editable metadata (pyproject.toml): started",
            Some(Noise),
        ),
        ("npm error A complete log of this run can be", Some(Noise)),
        ("npm error code 4", Some(Bad)),
        ("➤ YN0000: └ Completed in 2s", Some(Noise)),
        ("Setting up a (1.2) ...", Some(Result)),
        ("all is well", None),
    ] {
        assert_eq!(known(text).map(|(what, _)| what), expected, "{text}");
    }
    for (text, goes) in [
        ("➤ YN0000: │  version: 4", true),
        ("➤ YN0000: │ @@ -4,12 +4,11 @@", true),
        ("➤ YN0028: │ -  checksum: 98b8fc", true),
        ("➤ YN0028: │ -\"oak@npm:4.1.5\":", false),
        ("➤ YN0000: │ oak must be built", false),
    ] {
        assert_eq!(is_boilerplate(text), goes, "{text}");
    }
    assert_eq!(counted("2 upgraded, 1 newly installed"), Some(Result));
    assert_eq!(counted("2 other things"), None);
    assert_eq!(counted("11% [2 oak 13.3 kB/59.2 kB 23%]"), Some(Noise));
}

#[test]
fn the_longest_beginning_is_found_as_if_all_were_compared() {
    let longest = |text: &str| {
        let all = BEGINNINGS.iter().map(|(known, _)| *known);
        let found = all.filter(|known| text.starts_with(known));
        found.max_by_key(|known| known.len())
    };
    for (known, _) in BEGINNINGS {
        for end in ["", "\u{1}", " ", "zz", "\u{e9}"] {
            for length in (0..=known.len()).filter(|at| known.is_char_boundary(*at)) {
                let text = format!("{}{end}", known.get(..length).unwrap_or_default());
                let found = beginning(&text).map(|found| found.text);
                assert_eq!(found, longest(&text), "{text}");
            }
        }
    }
}

#[test]
fn sums_of_packages_in_a_lock_file_were_not_asked_for() {
    assert!(is_asked("➤ YN0028: │ -    oak: 4.1.5"));
    assert!(!is_asked("➤ YN0028: │ -  checksum: 98b8fc"));
}
