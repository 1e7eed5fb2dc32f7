//! A line of `git blame` in its default format.

/// A line of the file with its author and date.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) who: &'a str,
    pub(super) number: &'a str,
    pub(super) code: &'a str,
}

/// `3cd2135f path (Ada 2026-01-08 10:21:00 +0000  7) code`, also without path, author and date.
pub(super) fn parse(line: &str) -> Option<Line<'_>> {
    let bare = line.strip_prefix('^').unwrap_or(line);
    let end = bare.bytes().take_while(u8::is_ascii_hexdigit).count();
    let (name, rest) = bare.split_at_checked(end)?;
    if name.len() < 7 || !rest.starts_with([' ', '\t']) {
        return None;
    }
    for at in memchr::memchr_iter(b')', rest.as_bytes()) {
        let before = rest.get(..at)?;
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (who, number) = before.split_at_checked(before.len() - digits)?;
        if digits > 0 && who.ends_with([' ', '\t']) {
            let open = memchr::memchr(b'(', who.as_bytes());
            return Some(Line {
                name,
                who: open.map_or("", |open| who.get(open + 1..).unwrap_or_default()),
                number,
                code: rest.get(at + 1..)?,
            });
        }
    }
    None
}

/// `Ada B 2026-01-08 10:21:00 +0000`.
pub(super) fn author_and_date(who: &str) -> (&str, &str) {
    let who = who.trim();
    let is_date =
        |word: &&str| word.len() == 10 && word.bytes().filter(|byte| *byte == b'-').count() == 2;
    let date = who.split(' ').find(is_date).unwrap_or("");
    let author = who.split(date).next().filter(|_| !date.is_empty());
    (author.unwrap_or(who).trim(), date)
}
