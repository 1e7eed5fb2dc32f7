use super::*;

#[test]
fn the_place_of_the_test_stays_in_the_middle_of_a_chain() {
    let frames = |file: &str| -> String {
        let frames = (1..=7).map(|line| format!("app/{file}.py:{line}: in f\n"));
        frames.collect::<Vec<_>>().concat()
    };
    let mut body = frames("low");
    body.push_str("E   OSError: no\n\nThe above exception was the direct cause of the following exception:\n\n\
                   tests/test_oak.py:41: \n");
    body.push_str(&frames("high"));
    body.push_str("E   OakError: no\n");
    let wanted = Wanted::Some(1);
    let failure = read(&body, wanted);
    assert_eq!(failure.places.first(), Some(&"tests/test_oak.py:41"));
}

#[test]
fn of_endless_frames_the_first_and_the_last_places_stay() {
    let frames = (1..=2 * SEEN_PLACES).map(|number| format!("app/a.py:{number}: in f\n"));
    let body = frames.collect::<Vec<_>>().concat() + "E   RecursionError: too deep\n";
    let wanted = Wanted::Some(1);
    let failure = read(&body, wanted);
    assert_eq!(failure.messages, ["RecursionError: too deep"]);
    assert_eq!(failure.places.len(), PLACES);
    assert_eq!(failure.places.first(), Some(&"app/a.py:1"));
    assert_eq!(failure.places.last(), Some(&"app/a.py:8192"));
}

#[test]
fn tests_that_only_one_process_collected_are_named() {
    let body = "Different tests were collected between gw0 and gw1. The difference is:\n--- gw0\n\n+++ gw1\n\n\
                @@ -2,7 +2,6 @@\n\n tests/test_oak.py::test_a\n-tests/test_oak.py::test_b[18:42 leaf]\n\
                +tests/test_oak.py::test_b[18:43 leaf]\n tests/test_oak.py::test_c\n\
                To see why this happens see the documentation\n";
    assert_eq!(
        read(body, Wanted::All).messages,
        [
            "Different tests were collected between gw0 and gw1. The difference is:",
            "-tests/test_oak.py::test_b[18:42 leaf]",
            "+tests/test_oak.py::test_b[18:43 leaf]"
        ]
    );
}

#[test]
fn what_explains_a_message_stays_and_what_is_the_same_in_both_texts_goes() {
    let messages = |body, explaining| {
        let wanted = Wanted::Some(explaining);
        read(body, wanted).messages
    };
    let texts = "E   AssertionError: assert 'oak\\nelm' == 'oak\\nash'\nE     \nE       oak\nE     - ash\n\
                 E     ? ^^^\nE     + elm\nE     ? ^^^\n";
    let first = "AssertionError: assert 'oak\\nelm' == 'oak\\nash'";
    assert_eq!(messages(texts, 4), [first, "- ash", "+ elm"]);
    assert_eq!(messages(texts, 1), [first, "- ash"]);
    let cut = "E   AssertionError: assert ['oak', 'elm'] == ['oak', 'ash']\nE     \nE     At index 1 diff: 'elm' != 'ash'\n\
               E     \nE     Full diff:\nE       [\nE           'oak',...\nE     \nE     ...Full output truncated (3 lines \
               hidden), use '-vv' to show\n";
    let told = messages(cut, 4);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told.last(), Some(&"At index 1 diff: 'elm' != 'ash'"));
    let pattern = "E   AssertionError: Regex pattern did not match.\nE     Expected regex: 'oak'\n\
                   E     Actual message: 'elm'\n";
    assert_eq!(messages(pattern, 4).len(), 3);
    let items = "E   AssertionError: assert {'oak': 1, 'elm'...} == {'oak': 2}\nE     \n\
                 E     Omitting 1 identical items, use -vv to show\nE     Differing items:\n\
                 E     {'oak': 1} != {'oak': 2}\nE     Left contains 1 more item:\nE     {'elm': 3}\n";
    let told = messages(items, 4);
    let told = told.iter().skip(1).copied();
    let expected = [
        "{'oak': 1} != {'oak': 2}",
        "Left contains 1 more item:",
        "{'elm': 3}",
    ];
    assert!(told.eq(expected));
}

#[test]
fn what_only_one_side_holds_is_told_of_both_sides() {
    let told = |body| read(body, Wanted::Some(1)).messages.split_off(1);
    let sets = "E   AssertionError: leaves differ\nE   assert {1, 2} == {2, 4}\nE     \nE     Extra items in the left set:\nE     1\n\
                E     Extra items in the right set:\nE     4\nE     Use -v to get more diff\n";
    assert_eq!(
        told(sets),
        [
            "assert {1, 2} == {2, 4}",
            "Extra items in the left set:",
            "1",
            "Extra items in the right set:",
            "4"
        ]
    );
    let numbers = "E   assert [1.0, 3.1] == approx([1 ± 1... 3 ± 3.0e-06])\nE     \nE     comparison failed. Mismatched elements: 1 / 2:\n\
                   E     Max absolute difference: 0.1\nE     Max relative difference: 0.03\nE     Index | Obtained | Expected\n\
                   E     1     | 3.1      | 3 ± 3.0e-06\n";
    assert_eq!(
        told(numbers),
        [
            "Index | Obtained | Expected",
            "1     | 3.1      | 3 ± 3.0e-06"
        ]
    );
}

#[test]
fn of_a_traceback_that_was_captured_what_was_raised_stays() {
    let body = "tests/test_oak.py:4: in test_leaf\nE   assert 500 == 400\n------ Captured log call ------\n\
                ERROR    oak:oak.py:9 Exception on /leaf\nTraceback (most recent call last):\n  File \"/v/web.py\", line 9, in call\n    \
                return self.handle_user_exception(e)\n  File \"/w/oak.py\", line 3, in leaf\n    return leaves[name]\nKeyError: 'elm'\n";
    let failure = read(body, Wanted::Some(1));
    assert_eq!(
        failure.captured,
        [
            "ERROR    oak:oak.py:9 Exception on /leaf",
            "KeyError: 'elm'"
        ]
    );
}

#[test]
fn what_one_side_has_alone_stands_below_its_head() {
    let body = "    def test_oak():\n>       assert a == b\nE       AssertionError: assert {'a': 1, 'b':...} == {'a': 1, 'b':..., 'f': 0}\n\
                E         Differing items:\nE         {'b': 1} != {'b': 2}\nE         Right contains 1 more item:\nE         {'f': 0}\n\
                E         Use -v to get more diff\n\ntests/test_oak.py:2: AssertionError\n";
    let told = [
        "{'b': 1} != {'b': 2}",
        "Right contains 1 more item:",
        "{'f': 0}",
    ];
    let messages = read(body, Wanted::Some(2)).messages;
    assert_eq!(messages.get(1..), Some(told.as_slice()));
}

#[test]
fn the_few_lines_that_a_failing_test_printed_stay() {
    let body = |printed: &str| {
        format!(
            "tests/test_oak.py:4: in test_leaf\nE   assert 9 == 0\n------ Captured stdout setup ------\nplanting\n\
             ------ Captured stdout call ------\n{printed}------ Captured stderr call ------\nsap: stage 4 runs dry\n"
        )
    };
    let few = body("leaves 7\nleaves 8\n");
    let told = ["leaves 7", "leaves 8", "sap: stage 4 runs dry"];
    assert_eq!(read(&few, Wanted::Some(2)).captured, told);
    let many = body(&"leaf\n".repeat(9));
    assert_eq!(read(&many, Wanted::Some(4)).captured, told[2..]);
    assert!(read(&few, Wanted::Some(1)).captured.is_empty());
}

#[test]
fn further_lines_of_the_words_of_an_assertion_stay() {
    let body = "E       AssertionError: leaves differ\nE         see garden plan 7\nE       assert 'oak' == 'elm'\nE         \n\
                E         - elm\nE         + oak\n";
    assert_eq!(
        read(body, Wanted::Some(2)).messages,
        [
            "AssertionError: leaves differ",
            "see garden plan 7",
            "- elm",
            "+ oak"
        ]
    );
}

#[test]
fn what_differs_far_below_in_a_comparison_stays() {
    let same = "E         leaf\n".repeat(200);
    let body = format!(
        "E       AssertionError: assert 'leaf\\n...' == 'leaf\\n...'\n{same}E       - elm\nE       + oak\n{same}"
    );
    let told = read(&body, Wanted::Some(2)).messages;
    assert_eq!(told.get(1..), Some(["- elm", "+ oak"].as_slice()));
}
