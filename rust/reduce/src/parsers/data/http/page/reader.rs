//! The pieces of a page in their order, read in one pass.

use memchr::{memchr, memmem};

use super::entity::push_decoded;
use super::tag::{Tag, attribute, tag_end};
use ethos_registry_core::find_text::FindText as _;

/// Headings are shown as they are up to this length.
const HEADING_BYTES: usize = 200;
/// Longer text without a tag that ends its line is not read on.
const LINE_BYTES: usize = 100_000;
/// Tags of forms too.
const TAG_BYTES: usize = 200;
/// What is in these is not text of the page.
const HIDDEN: [&str; 4] = ["script", "style", "svg", "template"];
const HEADINGS: [&str; 5] = ["title", "h1", "h2", "h3", "h4"];
/// What takes part in a line.
const INLINE: [&str; 25] = [
    "abbr", "b", "bdi", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "label",
    "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "u", "var",
];
/// What may be filled in and sent.
const FIELDS: [&str; 4] = ["form", "input", "select", "meta"];
/// How a page states of an element that its lines are as they are.
const AS_IT_STANDS: &str = "white-space:pre";
const BETWEEN_CELLS: &str = " | ";

/// What a page states.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    /// A heading, with its tags.
    Heading(&'a str),
    Line(&'a str),
    /// Text with lines of its own.
    Block(&'a str),
}

/// A page that is read.
pub(super) struct Reader<'h> {
    html: &'h str,
    at: usize,
    line: String,
    /// The element whose lines are as they are.
    block: Option<&'static str>,
    /// Where the link that is open leads, and where in the line its text begins.
    link: Option<(&'h str, usize)>,
    /// Whether a `>` in quotes ends no tag.
    has_quotes: bool,
}

impl<'h> Reader<'h> {
    pub(super) fn new(html: &'h str) -> Self {
        Self {
            html,
            at: 0,
            line: String::new(),
            block: None,
            link: None,
            has_quotes: true,
        }
    }

    /// Shows `each` piece.
    pub(super) fn read(mut self, each: &mut impl FnMut(Piece<'_>)) {
        while let Some(rest) = self.rest().filter(|rest| !rest.is_empty()) {
            let text_bytes = memchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
            self.text(rest.get(..text_bytes).unwrap_or_default());
            self.at += text_bytes;
            if text_bytes < rest.len() {
                self.markup(each);
            }
        }
        if self.block.is_some() {
            each(Piece::Block(&self.line));
        } else {
            self.end_line(each);
        }
    }

    fn rest(&self) -> Option<&'h str> {
        self.html.get(self.at..)
    }

    /// Text between two tags.
    fn text(&mut self, html: &str) {
        let left = LINE_BYTES.saturating_sub(self.line.len());
        let cut = (0..=left.min(html.len())).rfind(|at| html.is_char_boundary(*at));
        let html = html.get(..cut.unwrap_or_default()).unwrap_or_default();
        if self.block.is_some() {
            push_decoded(html, &mut self.line);
            return;
        }
        let is_apart = |sign: Option<char>| sign.is_some_and(char::is_whitespace);
        if is_apart(html.chars().next()) {
            self.blank();
        }
        for (number, word) in html.split_ascii_whitespace().enumerate() {
            if number > 0 {
                self.blank();
            }
            push_decoded(word, &mut self.line);
        }
        if is_apart(html.chars().next_back()) {
            self.blank();
        }
    }

    fn blank(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
    }

    /// What begins with `<` here.
    fn markup(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        let rest = self.rest().unwrap_or_default();
        if let Some(comment) = rest.strip_prefix("<!--") {
            let text = comment.find_text("-->").and_then(|end| comment.get(..end));
            self.at = text.map_or(self.html.len(), |text| self.at + text.len() + 7);
            // A server that reports an error may describe it for programs here.
            let told = text.filter(|text| text.contains('\n') && text.has_text("Traceback (most"));
            if let Some(text) = told {
                self.end_line(each);
                each(Piece::Block(text));
            }
            return;
        }
        let Some(tag) = Tag::read(rest) else {
            self.line.push('<');
            self.at += 1;
            return;
        };
        let Some(end) = self.tag_end(rest) else {
            self.at = self.html.len();
            return;
        };
        let start = self.at;
        self.at += end;
        let whole = rest.get(..end).unwrap_or_default();
        if self.block.is_some() {
            self.in_block(&tag, each);
        } else if HIDDEN.contains(&tag.name()) {
            if !tag.closes && !whole.ends_with("/>") {
                self.skip_to_end(tag.name());
            }
        } else if HEADINGS.contains(&tag.name()) {
            self.end_line(each);
            self.heading(start, end, &tag, each);
        } else {
            self.element(&tag, whole, each);
        }
    }

    /// The length of the tag that `rest` begins with. After an unclosed quote, quotes are ignored.
    fn tag_end(&mut self, rest: &str) -> Option<usize> {
        if self.has_quotes
            && let Some(end) = tag_end(rest)
        {
            return Some(end);
        }
        self.has_quotes = false;
        memchr(b'>', rest.as_bytes()).map(|at| at + 1)
    }

    fn in_block(&mut self, tag: &Tag, each: &mut impl FnMut(Piece<'_>)) {
        if tag.closes && self.block == Some(tag.name()) {
            let text = std::mem::take(&mut self.line);
            self.block = None;
            self.restart_link();
            each(Piece::Block(&text));
        } else if tag.name() == "br" {
            self.line.push('\n');
        }
    }

    /// A heading on one line is shown with its tags; of a longer one the text.
    fn heading(&mut self, start: usize, end: usize, tag: &Tag, each: &mut impl FnMut(Piece<'_>)) {
        if tag.closes {
            return;
        }
        let within = self.html.as_bytes().get(start..).unwrap_or_default();
        let within = within
            .get(..HEADING_BYTES.min(within.len()))
            .unwrap_or_default();
        let is_close = |at: usize| {
            let rest = self.html.get(start + at..).unwrap_or_default();
            Tag::read(rest).is_some_and(|other| other.closes && other.name() == tag.name())
        };
        let close = memmem::find_iter(within, b"</").find(|at| is_close(*at));
        let whole = close.and_then(|at| {
            let length = at + tag_end(self.html.get(start + at..)?)?;
            self.html.get(start..start + length)
        });
        if let Some(whole) = whole.filter(|whole| !whole.contains('\n')) {
            self.at = start + whole.len();
            let is_empty = close == Some(end);
            if !is_empty {
                each(Piece::Heading(whole));
            }
        }
    }

    fn element(&mut self, tag: &Tag, whole: &'h str, each: &mut impl FnMut(Piece<'_>)) {
        let name = tag.name();
        match name {
            "a" => self.link(tag, whole),
            "img" => {
                let said = attribute(whole, "alt").filter(|said| !said.contains('\n'));
                self.text(said.unwrap_or_default());
            }
            "td" | "th" => {
                if !tag.closes && !self.line.trim().is_empty() {
                    self.line.truncate(self.line.trim_end().len());
                    self.line.push_str(BETWEEN_CELLS);
                }
            }
            "pre" | "textarea" => {
                self.end_line(each);
                if !tag.closes {
                    self.block = Some(if name == "pre" { "pre" } else { "textarea" });
                }
            }
            _ if INLINE.contains(&name) => {}
            "div" if !tag.closes && whole.has_text(AS_IT_STANDS) => {
                self.end_line(each);
                self.block = Some("div");
            }
            _ => {
                self.end_line(each);
                let is_field = FIELDS.contains(&name) && !tag.closes && whole.len() <= TAG_BYTES;
                let of_page = name == "meta" && !whole.has_text("csrf");
                if is_field && !of_page && !whole.contains('\n') {
                    each(Piece::Line(whole));
                }
            }
        }
    }

    /// A link is shown as `[text](where)`; one that is not closed ends where the next begins.
    fn link(&mut self, tag: &Tag, whole: &'h str) {
        if let Some((to, start)) = self.link.take() {
            // Blanks may be gone from the line since.
            let start =
                (0..=start.min(self.line.len())).rfind(|at| self.line.is_char_boundary(*at));
            self.line.insert(start.unwrap_or_default(), '[');
            self.line.push_str("](");
            self.line.push_str(to);
            self.line.push(')');
        }
        if !tag.closes {
            let to = attribute(whole, "href");
            let to = to.filter(|to| !to.starts_with('#') && !to.contains('\n'));
            self.link = to.map(|to| (to, self.line.len()));
        }
    }

    /// Goes after the end of the element `name`, or of the page.
    fn skip_to_end(&mut self, name: &str) {
        let rest = self.rest().unwrap_or_default();
        let end = memmem::find_iter(rest.as_bytes(), b"</").find(|at| {
            let close = rest.get(*at..).and_then(Tag::read);
            close.is_some_and(|close| close.closes && close.name() == name)
        });
        self.at = end.map_or(self.html.len(), |end| self.at + end);
    }

    fn end_line(&mut self, each: &mut impl FnMut(Piece<'_>)) {
        let line = self.line.trim();
        if !line.is_empty() {
            each(Piece::Line(line));
        }
        self.line.clear();
        self.restart_link();
    }

    /// What the link that is open states on another line is identified by now.
    fn restart_link(&mut self) {
        if let Some((_, start)) = &mut self.link {
            *start = 0;
        }
    }
}
