//! Characters that HTML writes by name or number.

/// Names and what they represent.
const NAMES: [(&str, char); 6] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
];
/// No name or number that is known here is longer.
const MAX_BYTES: usize = 9;

/// Appends `html`, text between two tags, to `text`.
pub(super) fn push_decoded(html: &str, text: &mut String) {
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('&') {
        text.push_str(before);
        let end = after.bytes().take(MAX_BYTES).position(|byte| byte == b';');
        let entity = end.and_then(|end| after.split_at_checked(end));
        let known = entity.and_then(|(name, rest)| Some((character(name)?, rest.get(1..)?)));
        let (said, behind) = known.unwrap_or(('&', after));
        text.push(said);
        rest = behind;
    }
    text.push_str(rest);
}

fn character(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, sign)| *sign);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(number) => u32::from_str_radix(number, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?).filter(|sign| !sign.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_become_characters_and_anything_else_stays() {
        for (html, said) in [
            ("a &lt;b&gt; &amp;amp; &quot;c&quot;", "a <b> &amp; \"c\""),
            ("it&#39;s &#x27;x&#X27;&nbsp;y", "it's 'x' y"),
            (
                "a & b && c &unknown; &#0; &#xD800; &",
                "a & b && c &unknown; &#0; &#xD800; &",
            ),
            ("&#10;&lt", "&#10;&lt"),
        ] {
            let mut text = String::new();
            push_decoded(html, &mut text);
            assert_eq!(text, said);
        }
    }
}
