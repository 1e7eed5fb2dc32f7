//! Signs of colours as a command line writes them.

/// `said` without the signs that colour it: `\033[1m`.
pub(super) fn without_colours(said: &str) -> String {
    const ESCAPES: [&str; 6] = ["\\033[", "\\e[", "\\E[", "\\x1b[", "\\x1B[", "\\u001b["];
    let mut left = String::with_capacity(said.len());
    let mut rest = said;
    while let Some(at) = rest.find(['\\', '\x1b']) {
        let (before, escape) = rest.split_at(at);
        left.push_str(before);
        let codes = ESCAPES.iter().find_map(|begin| escape.strip_prefix(begin));
        let codes = codes.or_else(|| escape.strip_prefix("\x1b["));
        let behind = codes.and_then(|codes| {
            let is_code = |sign: char| sign.is_ascii_digit() || sign == ';';
            codes.trim_start_matches(is_code).strip_prefix('m')
        });
        rest = behind.unwrap_or_else(|| {
            left.push_str(escape.get(..1).unwrap_or_default());
            escape.get(1..).unwrap_or_default()
        });
    }
    left + rest
}
