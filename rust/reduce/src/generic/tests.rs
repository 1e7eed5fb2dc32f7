use super::*;
use crate::input::Exit;

fn reduced(text: &str) -> String {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Failure,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}

#[test]
fn what_went_well_is_counted_and_what_failed_stays() {
    let mut text = (0..50)
        .map(|number| format!("ok {number} - adds\n"))
        .collect::<Vec<_>>()
        .concat();
    text.push_str("not ok 50 - divides\n    got: 0\n    expected: 1\n# done\n");
    assert_eq!(
        reduced(&text),
        "ok 0 - adds ×50\nok 49 - adds\nnot ok 50 - divides\n    got: 0\n    expected: 1\n# done\n\
        [0 of 54 lines left out]"
    );
}

#[test]
fn findings_that_say_the_same_share_a_row_with_all_places() {
    let text = (0..40)
        .map(|line| format!("src/a.zz:{line}:1: odd thing\n"))
        .collect::<Vec<_>>()
        .concat();
    let reduced = reduced(&text);
    assert!(reduced.starts_with("src/a.zz:0:1: odd thing src/a.zz:1:1 src/a.zz:2:1 "));
    assert!((0..40).all(|line| reduced.contains(&format!("src/a.zz:{line}:1"))));
    assert_eq!(reduced.lines().count(), 2);
}

#[test]
fn findings_with_other_lines_below_them_keep_rows_of_their_own() {
    let text = "a.zz:1:2: odd thing\n    in oak\n    at a.zz:1:9\na.zz:3:4: odd thing\n    in elm\n\
                a.zz:5:6: odd thing\n    in elm\n";
    assert_eq!(
        reduced(text),
        "a.zz:1:2: odd thing\n    in oak\n    at a.zz:1:9\na.zz:3:4: odd thing a.zz:5:6\n    in elm\n\
         [1 of 7 lines left out]"
    );
}

#[test]
fn a_short_text_that_tells_of_a_failure_is_shown_but_for_noise() {
    let names = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig"];
    let rows = names.iter().flat_map(|one| {
        let all = names.iter();
        all.map(move |other| format!("{one} grows beside {other}\n"))
    });
    let text: String = rows.chain(["Error: no room\n".to_owned()]).collect();
    let account = "[0 of 65 lines left out]";
    assert_eq!(reduced(&text), format!("{text}{account}"));
}

#[test]
fn a_place_without_a_path_stays_with_its_file() {
    let text =
        "a.zz\n  1:2  error  odd thing\n  3:4  error  odd thing\nb.zz\n  5:6  error  odd thing\n";
    assert_eq!(
        reduced(text),
        "a.zz\n1:2 error odd thing 3:4\nb.zz\n5:6 error odd thing\n[0 of 5 lines left out]"
    );
}

#[test]
fn a_line_is_shown_in_which_a_number_is_another_than_in_all_that_are_like_it() {
    let line = |leaf: usize| {
        let status = if leaf % 100 == 57 { 503 } else { 200 };
        format!("leaf {leaf} gave {status} in {} ms\n", leaf * 7 % 41)
    };
    let text: String = (0..300).map(line).collect();
    assert_eq!(
        reduced(&text),
        "leaf 0 gave 200 in 0 ms ×297\nleaf 57 gave 503 in 30 ms ×3\nleaf 299 gave 200 in 2 ms\n\
        [0 of 300 lines left out]"
    );
}

#[test]
fn rows_stand_in_the_order_of_their_lines_where_the_first_of_many_is_odd() {
    let lines = |leaf: usize| {
        format!(
            "leaf {leaf} up={}\nbark {leaf} is {} old\n",
            u8::from(leaf > 0),
            leaf % 7
        )
    };
    let text: String = (0..40).map(lines).collect();
    assert_eq!(
        reduced(&text),
        "leaf 0 up=0\nbark 0 is 0 old ×40\nleaf 1 up=1 ×39\nleaf 39 up=1\nbark 39 is 4 old\n[0 of 80 lines left out]"
    );
}

#[test]
fn no_line_is_told_twice_where_most_of_a_few_are_odd() {
    let up = |leaf: usize| if (1..7).contains(&leaf) { leaf + 1 } else { 1 };
    let lines = |leaf: usize| format!("leaf {leaf} up={}\n", up(leaf));
    let text = (0..9).map(lines).collect::<String>();
    assert_eq!(
        reduced(&text),
        "leaf 0 up=1 ×9\nleaf 8 up=1\n[0 of 9 lines left out]"
    );
}

#[test]
fn of_a_long_text_the_ends_the_bad_and_the_odd_lines_stay() {
    let letter = |number: u32| char::from_u32(u32::from(b'a') + number % 26).unwrap_or('a');
    let mut lines: Vec<String> = (0..3_000)
        .map(|number| {
            let name: String = [1, 26, 676]
                .map(|part| letter(number / part))
                .iter()
                .collect();
            format!("item {name} was looked at by the third part")
        })
        .collect();
    lines.insert(1_500, "engine stopped: cannot open door".to_owned());
    lines.insert(2_000, "nothing like the rest".to_owned());
    let text = lines.join("\n");
    let reduced = reduced(&text);
    for fact in [
        "item aaa was",
        "engine stopped: cannot open door",
        "nothing like the rest",
        "of 3002 lines left out]",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
    assert!(reduced.len() < text.len() / 5, "{reduced}");
}

#[test]
fn what_is_shown_of_a_very_long_text_is_bounded() {
    let word = |number: usize| {
        number
            .to_string()
            .replace(|digit: char| digit.is_ascii_digit(), "x")
    };
    let text = (0..40_000)
        .map(|number| {
            format!(
                "{} error {} in b{number}.zz:1\n",
                "oak".repeat(number % 50),
                word(number)
            )
        })
        .collect::<Vec<_>>()
        .concat();
    assert!(reduced(&text).len() < 60_000);
}

#[test]
fn what_is_left_of_many_overwritten_bars_stays_beside_a_failure() {
    let bars = (0..400)
        .map(|step| format!("\repoch:  {}%|###    | {step}/400", step / 4))
        .collect::<Vec<_>>()
        .concat();
    let told = "loss is 0.25 and val is 0.75\nsaved to runs/oak.pt\nall leaves were read twice\n\
                ValueError: no leaf is left\n";
    let text = format!("{bars}\n{told}");
    let short = crate::pipeline::terminal::reduce(&text, None, Exit::Failure, usize::MAX);
    let short = short.map(|(short, _)| short).unwrap_or_default();
    assert!(told.lines().all(|line| short.contains(line)), "{short}");
}

#[test]
fn rows_of_mere_numbers_stay_each() {
    let rows = "    776 200\n      7 404\n      6 403\n      5 502\n      5 405\n      1 157\n";
    assert_eq!(reduced(rows), format!("{rows}[0 of 6 lines left out]"));
}

#[test]
fn the_source_below_a_frame_of_a_library_goes_with_it() {
    let trace = |name: &str| {
        format!(
            "WARNING: failed to import '{name}'\nTraceback (most recent call last):\n  \
             File \"/opt/lib/python3.11/site-packages/elm/load.py\", line 218, in load\n    \
             raise ModuleNotFoundError(msg, name=name)\n    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  \
             File \"/srv/oak/conf.py\", line 3, in setup\n    load(oak)\n\
             ModuleNotFoundError: No module named 'oak'\n"
        )
    };
    let text = reduced(&["leaf", "twig", "root"].map(trace).concat());
    assert!(!text.contains("raise ModuleNotFoundError"), "{text}");
    for kept in [
        "'leaf'",
        "'twig'",
        "'root'",
        "/srv/oak/conf.py\", line 3",
        "No module named 'oak'",
    ] {
        assert!(text.contains(kept), "{text}");
    }
}

#[test]
fn a_row_of_data_with_what_looks_like_a_code_is_no_finding() {
    assert_eq!(kind::kind("10    S10   NO  119.016769      1"), Kind::Plain);
    assert_eq!(kind::kind("12  S101  use of assert"), Kind::Finding);
}

#[test]
fn the_first_line_names_the_columns_of_what_looks_like_findings() {
    let rows: Vec<_> = (1000..1200)
        .map(|number| format!("M{number}  north  {number} cells\n"))
        .collect();
    let rows = rows.concat();
    let reduced = reduced(&format!("meter  site  kwh\n{rows}"));
    assert!(reduced.starts_with("meter  site  kwh\n"), "{reduced}");
}

#[test]
fn rows_of_a_drawn_table_that_differ_in_numbers_are_all_told() {
    let row = |number: u32| format!("│ {number:3} │ oak   │ {:4}.5 │\n", number * 7);
    let rows: Vec<_> = (1..=30).map(row).collect();
    let text = format!(
        "┏━━━━━┳━━━━━━━┳━━━━━━━━┓\n┃ row ┃ tree  ┃ height ┃\n┡━━━━━╇━━━━━━━╇━━━━━━━━┩\n{}",
        rows.concat()
    );
    let reduced = reduced(&text);
    assert!(reduced.contains("│  17 │ oak   │  119.5 │"), "{reduced}");
}

#[test]
fn annotations_are_told_one_by_one_without_the_lines_encoded_in_them() {
    let one = |name: &str, line: usize| {
        format!(
            "::error file=/a/{name}.js,line={line}::Error: {name} sank%0A \u{276f} {name}.js:1:2%0A\n\n"
        )
    };
    let names = ["tern", "gull", "auk"].into_iter().cycle();
    let lines: String = (0..40)
        .zip(names)
        .map(|(line, name)| one(name, line))
        .collect();
    let text = reduced(&lines);
    assert!(
        text.contains("file=/a/gull.js,line=1::Error: gull sank\n"),
        "{text}"
    );
    assert!(text.contains("line=38::Error: auk sank"), "{text}");
    assert!(!text.contains("%0A"), "{text}");
}

#[test]
fn an_error_is_not_crowded_out_by_warnings_in_many_files() {
    const ERROR: &str = "src/stem.oak:21:7: error Q03: the name 'totl' does not exist in this stem, and no other stem \
                         that can be reached from here has a leaf of that name either";
    let warnings = |files: std::ops::Range<usize>| {
        let of_file = |file| {
            format!(
                "src/leaf_{file}.oak:{file}:7: warning Q17: the vein of the leaf 'leaf_{file}' bends more than it may\n"
            )
        };
        files.map(of_file).collect::<Vec<_>>().concat()
    };
    let text = format!("{}{ERROR}\n{}", warnings(0..150), warnings(150..170));
    let reduced = reduced(&text);
    assert!(reduced.contains(ERROR), "{reduced}");
}

#[test]
fn what_did_not_end_with_nought_is_told_beside_what_did() {
    for form in ["leaf {} returned ", "leaf {}: rc=", "leaf {} status: "] {
        let line = |number: usize| {
            let ended = u8::from(number == 57);
            format!("{}{ended}\n", form.replace("{}", &number.to_string()))
        };
        let text = (1..=120).map(line).collect::<Vec<_>>().concat();
        let reduced = reduced(&text);
        assert!(reduced.contains(line(57).trim_end()), "{reduced}");
        assert!(reduced.lines().count() < 8, "{reduced}");
    }
}

#[test]
fn what_is_ticked_stays_in_its_own_list() {
    let list = |name: &str| format!("{name}\n [X] 0001_first\n [X] 0002_second\n [ ] 0003_third\n");
    let names = ["oak", "elm", "ash", "fir", "yew"];
    let text = names.map(list).concat();
    let told = reduced(&text);
    assert_eq!(
        told.matches("[X] 0001_first\n").count(),
        names.len(),
        "{told}"
    );
}
