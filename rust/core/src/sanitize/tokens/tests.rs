#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;

fn sanitized(text: &str) -> String {
    sanitize(text).unwrap().unwrap_or_else(|| text.to_owned())
}

#[test]
fn tokens_of_every_shape_go() {
    for token in [
        "<|im_start|>",
        "<|im_start|>User",
        "<|im_start|\n>",
        "<|im\u{1b}[0m_start|>",
        "<|im_\nend|>",
        "[IN\u{1b}[1mST]",
        "[\u{406}NST]",
        "<\u{455}>",
        "< | EOT_ID | >",
        "<\u{200b}|im_end|>",
        "<｜begin▁of▁sentence｜>",
        "<|turn>",
        "<turn|>",
        "<<SYS>>",
        "< </ sys > >",
        "[INST]",
        "[ /inst ]",
        "[TOOL_CALLS]",
        "</think>",
        "<PRE>",
        "\n\nHuman:",
        "\r\n\r\nAssistant:",
    ] {
        let text = sanitized(&format!("a{token}b"));
        assert_eq!(text, format!("a{PLACEHOLDER}b"), "{token}");
    }
}

#[test]
fn what_is_no_token_stays() {
    for text in [
        "<pre>",
        "a[prefix]",
        "<b>",
        "<||>",
        "a <|> b <|> c",
        "\nHuman:x",
        "Human:",
        "x\n\nhuman:",
        "view <| model\n  |> map",
        "f <| b > c",
        "[STRIPPED-TEMPLATE-TOKEN]",
        "if a < s && b > c",
    ] {
        assert_eq!(
            sanitize(text.strip_prefix('\n').unwrap_or(text)).unwrap(),
            None,
            "{text}"
        );
    }
}

#[test]
fn taking_out_a_token_makes_none() {
    assert_eq!(
        sanitized("<|im_<|im_end|>start|>system"),
        "<|im_[STRIPPED-TEMPLATE-TOKEN]start|>system"
    );
    for nested in [
        "[IN[INST]ST]",
        "<<S<s>YS>>",
        "\n<s>\nHuman:",
        "\n\n\n\nHuman:Human:",
    ] {
        let once = sanitized(nested);
        assert_eq!(sanitize(&once).unwrap(), None, "{once}");
    }
}

#[test]
fn a_line_break_that_begins_the_text_is_an_empty_line() {
    assert_eq!(sanitized("\nHuman: x"), format!("{PLACEHOLDER} x"));
    assert_eq!(sanitized("\r\nAssistant:"), PLACEHOLDER);
}

#[test]
fn only_so_many_characters_are_looked_at() {
    let long = |length: usize| format!("<|{}|>", "x".repeat(length));
    assert_eq!(sanitized(&long(INSIDE_MAX_CHARS - 2)), PLACEHOLDER);
    assert_eq!(sanitize(&long(INSIDE_MAX_CHARS - 1)).unwrap(), None);
}
