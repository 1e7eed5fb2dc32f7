#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;

fn state_of(text: &str) -> State {
    let mut whole = JsonStream::new();
    whole.push(text);
    let mut in_pieces = JsonStream::new();
    for character in text.chars() {
        in_pieces.push(character.encode_utf8(&mut [0; 4]));
    }
    assert_eq!(whole.state(), in_pieces.state(), "{text}");
    assert_eq!(whole.partial(), in_pieces.partial(), "{text}");
    assert_eq!(whole.text(), in_pieces.text(), "{text}");
    whole.state()
}

fn partial_of(text: &str) -> Option<String> {
    state_of(text);
    let mut stream = JsonStream::new();
    stream.push(text);
    stream.partial()
}

#[test]
fn whole_objects_are_known_and_white_space_may_follow() {
    for text in [
        "{}",
        " {\"a\" : [1, -0.5e+3, true, false, null, \"x\\n\\u00e9\\ud83d\\ude00\"], \"b\": {} }\n ",
        "{\"é\":\"\u{1f600}\",\"e\":\"\\\\\"}",
        "{\"a\":\"\\ud83d\"}",
    ] {
        assert_eq!(state_of(text), State::Object, "{text}");
    }
    for text in ["[]", "\"a\"", "12", "true", " null "] {
        assert_eq!(state_of(text), State::OtherValue, "{text}");
    }
}

#[test]
fn beginnings_are_open() {
    let text = "{\"a\": [1, -0.5e+3, true, {\"b\": \"x\\u00e9\"}], \"c\": null}";
    for end in 1..text.len() {
        assert_eq!(state_of(text.get(..end).unwrap()), State::Open, "{end}");
    }
    assert_eq!(state_of(""), State::Blank);
    assert_eq!(state_of(" \n"), State::Blank);
}

#[test]
fn what_can_never_become_json_is_invalid() {
    for text in [
        "}",
        "{,",
        "{\"a\" 1",
        "{\"a\":}",
        "{\"a\":1,}",
        "[1,]",
        "{1",
        "[01",
        "[1.]",
        "[-]",
        "[.5",
        "[1e]",
        "tru ",
        "nul}",
        "{\"a\":\"\\x",
        "{\"a\":\"\\u12g",
        "{\"a\":\"\n",
        "{} x",
        "{}{}",
        "[}",
        "{]",
        "[1e999]",
        "NaN",
        "'a'",
        "{\"a\":1,\"a\":2",
        "{\"a\":1,\"\\u0061\":2",
    ] {
        assert_eq!(state_of(text), State::Invalid, "{text}");
    }
}

#[test]
fn the_depth_is_bounded() {
    assert_eq!(state_of(&"[".repeat(MAX_DEPTH)), State::Open);
    assert_eq!(state_of(&"[".repeat(MAX_DEPTH + 1)), State::Invalid);
}

#[test]
fn equal_keys_of_different_objects_pass() {
    let text = "{\"a\":{\"a\":1},\"b\":[\"a\",\"a\",{\"a\":1},{\"a\":\"a\"}],\"c\":\"a\"}";
    assert_eq!(state_of(text), State::Object);
}

#[test]
fn the_longest_valid_part_is_given() {
    for (text, partial) in [
        ("", None),
        ("{", Some("{}")),
        ("{\"pa", Some("{}")),
        ("{\"path\"", Some("{}")),
        ("{\"path\": \"a.t", Some("{\"path\": \"a.t\"}")),
        ("{\"a\": 1", Some("{}")),
        ("{\"a\": 1,", Some("{\"a\": 1}")),
        ("{\"a\": [1, {\"b\": tru", Some("{\"a\": [1, {}]}")),
        (
            "{\"a\": [1, {\"b\": true",
            Some("{\"a\": [1, {\"b\": true}]}"),
        ),
        ("{\"a\": \"x\\", Some("{\"a\": \"x\"}")),
        ("{\"a\": \"x\\u00e", Some("{\"a\": \"x\"}")),
        ("{\"a\": \"x\\ud83d", Some("{\"a\": \"x\"}")),
        ("{\"a\": \"x\\ud83d\\ude0", Some("{\"a\": \"x\"}")),
        ("{\"a\": \"x\\ud83dy", Some("{\"a\": \"x\\ufffdy\"}")),
        ("{\"a\": \"\\ude00", Some("{\"a\": \"\\ufffd\"}")),
        ("{\"a\": 1, \"b\": ?", Some("{\"a\": 1}")),
    ] {
        assert_eq!(partial_of(text).as_deref(), partial, "{text}");
    }
}

#[test]
fn lone_surrogates_are_replaced_in_the_text() {
    let mut stream = JsonStream::new();
    stream.push("{\"a\":\"\\ud83d\\ud83d\\ude00\\udc00\"}");
    assert_eq!(stream.text(), "{\"a\":\"\\ufffd\\ud83d\\ude00\\ufffd\"}");
}

#[test]
fn a_duplicate_is_found_in_a_large_object_and_beside_escapes() {
    let many: Vec<String> = (0..40).map(|number| format!("\"k{number}\":1")).collect();
    assert_eq!(state_of(&format!("{{{}}}", many.join(","))), State::Object);
    for key in ["k0", "k15", "k39", "\\u006b3"] {
        let text = format!("{{{},\"{key}\":2", many.join(","));
        assert_eq!(state_of(&text), State::Invalid, "{key}");
    }
    assert_eq!(
        state_of("{\"\\u0061\":{\"b\":1,\"c\":1},\"b\":2,\"a\":3"),
        State::Invalid
    );
}
