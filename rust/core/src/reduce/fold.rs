//! Lines that say the same but for numbers, told by the first and the last of them and a count.

use hashbrown::HashTable;

use super::output::Output;

/// Masks that are told apart; of more, only the beginning counts.
const MAX_MASKS: usize = 4_096;
/// Masks that are told apart by their beginning once there are too many.
const MAX_COARSE_MASKS: usize = 1_024;
/// Fewer alike lines are all shown.
const MIN_FOLDED: usize = 4;
/// Words that count in a coarse mask, and the bytes in which they must stand.
const COARSE_WORDS: usize = 5;
const COARSE_BYTES: usize = 48;
/// Only this much of a line counts in its shape.
const SHAPE_BYTES: usize = 200;
/// A run of hexadecimal digits with a decimal one among them is a number from this length on.
const HEX_DIGITS: usize = 4;

const DIGIT: u8 = 1;
const HEX: u8 = 2;
const WORD: u8 = 4;
const BLANK: u8 = 8;

/// What each byte can be part of.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        let mut class = 0;
        if byte.is_ascii_digit() {
            class |= DIGIT | HEX;
        }
        if byte.is_ascii_hexdigit() {
            class |= HEX;
        }
        if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            class |= WORD;
        }
        if byte == b' ' || byte == b'\t' {
            class |= BLANK;
        }
        // A constant function has no other way to a place of an array; a byte is never beyond it.
        #[expect(clippy::indexing_slicing, reason = "256 places, one for each byte")]
        {
            classes[byte as usize] = class;
        }
        if byte == u8::MAX {
            return classes;
        }
        byte += 1;
    }
}

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

/// A line and its number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Numbered<'a> {
    pub(super) number: usize,
    pub(super) line: &'a str,
}

/// Lines with one mask.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template<'a> {
    mask: u64,
    pub(super) count: usize,
    pub(super) first: Numbered<'a>,
    second: Numbered<'a>,
    pub(super) last: Numbered<'a>,
}

impl<'a> Template<'a> {
    /// What its lines have in common.
    pub(super) fn key(&self) -> u64 {
        self.mask
    }

    /// Whether only the first and the last line are shown.
    pub(super) fn is_folded(&self) -> bool {
        self.count >= MIN_FOLDED
    }

    /// The lines that are shown, with how many each stands for.
    pub(super) fn shown(&self) -> impl Iterator<Item = (Numbered<'a>, usize)> + use<'a> {
        let folded = self.is_folded();
        let first = (self.first, if folded { self.count } else { 1 });
        let second = (self.count == MIN_FOLDED - 1).then_some((self.second, 1));
        // Of lines that are alike to the last byte one is enough.
        let differs = !folded || self.last.line != self.first.line;
        let last = (self.count > 1 && differs).then_some((self.last, 1));
        std::iter::once(first).chain(second).chain(last)
    }
}

/// The templates of a text, in the order of their first lines; memory is bounded.
#[derive(Debug, Default)]
pub(super) struct Templates<'a> {
    templates: Vec<Template<'a>>,
    by_mask: HashTable<usize>,
}

impl<'a> Templates<'a> {
    /// One more line; its mask decides with which others it is folded. The number of its template.
    pub(super) fn add(&mut self, number: usize, line: &'a str) -> usize {
        self.add_masked(mask(line), number, line)
    }

    /// One more line whose mask is `fine`.
    pub(super) fn add_masked(&mut self, fine: u64, number: usize, line: &'a str) -> usize {
        let here = Numbered { number, line };
        if let Some(index) = self.count(fine, here) {
            return index;
        }
        if self.templates.len() < MAX_MASKS {
            return self.open(fine, here);
        }
        let coarse = coarse_mask(line, COARSE_WORDS);
        if let Some(index) = self.count(coarse, here) {
            return index;
        }
        if self.templates.len() < MAX_MASKS + MAX_COARSE_MASKS {
            return self.open(coarse, here);
        }
        self.count(0, here).unwrap_or_else(|| self.open(0, here))
    }

    /// One more line that is alike to all that were added with this `key`, whatever they say.
    pub(super) fn add_alike(&mut self, key: u64, number: usize, line: &'a str) -> usize {
        let here = Numbered { number, line };
        match self.count(key, here) {
            Some(index) => index,
            None if self.templates.len() < MAX_MASKS => self.open(key, here),
            None => self.add(number, line),
        }
    }

    /// The templates.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Template<'a>> {
        self.templates.iter()
    }

    /// How many lines were added with this key.
    pub(super) fn times(&self, key: u64) -> usize {
        self.index(key)
            .and_then(|index| self.templates.get(index))
            .map_or(0, |template| template.count)
    }

    /// The number of the first line that was added with this key.
    pub(super) fn first(&self, key: u64) -> Option<usize> {
        let template = self.templates.get(self.index(key)?)?;
        Some(template.first.number)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.templates.len()
    }

    /// The same lines, with templates of one `key` taken together.
    pub(super) fn merged(&self, key: impl Fn(&Template<'a>) -> u64) -> Templates<'a> {
        let mut merged = Templates::default();
        for template in &self.templates {
            merged.merge(key(template), template);
        }
        merged
    }

    fn merge(&mut self, mask: u64, other: &Template<'a>) {
        let found = self.index(mask);
        let Some(template) = found.and_then(|index| self.templates.get_mut(index)) else {
            self.push(Template { mask, ..*other });
            return;
        };
        if template.count == 1 || other.first < template.second {
            template.second = other.first;
        }
        template.count += other.count;
        template.last = template.last.max(other.last);
    }

    /// Counts a line if its template is there.
    fn count(&mut self, mask: u64, here: Numbered<'a>) -> Option<usize> {
        let index = self.index(mask)?;
        let template = self.templates.get_mut(index)?;
        if template.count == 1 {
            template.second = here;
        }
        template.count += 1;
        template.last = here;
        Some(index)
    }

    fn index(&self, mask: u64) -> Option<usize> {
        let is_it = |index: &usize| {
            self.templates
                .get(*index)
                .is_some_and(|template| template.mask == mask)
        };
        self.by_mask.find(mask, is_it).copied()
    }

    fn open(&mut self, mask: u64, here: Numbered<'a>) -> usize {
        self.push(Template {
            mask,
            count: 1,
            first: here,
            second: here,
            last: here,
        });
        self.templates.len() - 1
    }

    fn push(&mut self, template: Template<'a>) {
        let templates = &self.templates;
        self.by_mask
            .insert_unique(template.mask, templates.len(), |index| {
                templates.get(*index).map_or(0, |template| template.mask)
            });
        self.templates.push(template);
    }
}

/// The lines, folded, in their order, as context of the output.
pub(super) fn write<'a>(lines: impl Iterator<Item = &'a str>, output: &mut Output) {
    let mut templates = Templates::default();
    for (number, line) in lines.enumerate() {
        templates.add(number, line);
    }
    let mut shown: Vec<_> = templates.iter().flat_map(Template::shown).collect();
    shown.sort_unstable();
    for (line, times) in shown {
        output.repeated(line.line, times);
    }
}

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const SEED: u64 = 0x51_7C_C1_B7_27_22_0A_95;

fn mixed(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(MULTIPLIER)
}

/// What a line is without its numbers: equal for lines that differ only in numbers and in how many
/// blanks stand in a row.
pub(super) fn mask(line: &str) -> u64 {
    masked(line.as_bytes(), usize::MAX)
}

/// What a line is with its numbers: equal for equal lines.
pub(super) fn literal_mask(line: &str) -> u64 {
    let chunks = line.as_bytes().chunks(8);
    let value = |chunk: &[u8]| {
        chunk
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte))
    };
    chunks.fold(!SEED, |hash, chunk| mixed(hash, value(chunk)))
}

/// Of what kinds of words and signs the beginning of a line is made.
pub(super) fn shape_mask(line: &str) -> u64 {
    let bytes = line.as_bytes();
    let mut hash = SEED;
    let mut at = 0;
    let mut last = 0_u64;
    while let Some(&byte) = bytes.get(at).filter(|_| at < SHAPE_BYTES) {
        let value = if class(byte) & WORD != 0 {
            let word = bytes.get(at..).unwrap_or_default();
            let mut all = 0;
            let length = word
                .iter()
                .take_while(|byte| {
                    let kind = class(**byte);
                    all |= kind;
                    kind & WORD != 0
                })
                .count();
            at += length;
            u64::from(all & DIGIT) + 1
        } else {
            at += 1;
            u64::from(byte) + 3
        };
        if value != last {
            hash = mixed(hash, value);
        }
        last = value;
    }
    hash
}

/// The same for its first word.
pub(super) fn first_word_mask(line: &str) -> u64 {
    let line = line.trim_start();
    let end = line.find([' ', '\t', ':', '=', '(']).unwrap_or(line.len());
    mask(line.get(..end).unwrap_or_default())
}

/// The same for its first `words`.
pub(super) fn coarse_mask(line: &str, words: usize) -> u64 {
    let bytes = line.trim_start().as_bytes();
    masked(bytes.get(..COARSE_BYTES).unwrap_or(bytes), words).rotate_left(1)
}

/// The hash of a text that comes byte by byte, the same in every process.
#[derive(Clone, Copy)]
pub(super) struct Hasher {
    hash: u64,
    pending: u64,
    filled: u32,
}

impl Default for Hasher {
    fn default() -> Self {
        Self {
            hash: SEED,
            pending: 0,
            filled: 0,
        }
    }
}

impl Hasher {
    pub(super) fn push(&mut self, byte: u8) {
        self.pending = self.pending << 8 | u64::from(byte);
        self.filled += 1;
        if self.filled == u64::BITS / u8::BITS {
            self.hash = mixed(self.hash, self.pending);
            self.pending = 0;
            self.filled = 0;
        }
    }

    pub(super) fn finish(self) -> u64 {
        mixed(mixed(self.hash, self.pending), u64::from(self.filled))
    }
}

/// A word that is being read.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    before: Hasher,
    all: u8,
    any: u8,
}

impl Word {
    /// Whether the word that ends before `end` is one number: `12`, `0x1f`, `3f2504e0`.
    fn is_number(self, bytes: &[u8], end: usize) -> bool {
        self.any & DIGIT != 0
            && (self.all & HEX != 0 && end - self.start >= HEX_DIGITS
                || bytes.get(self.start..self.start + 2) == Some(b"0x"))
    }
}

fn masked(bytes: &[u8], max_words: usize) -> u64 {
    let mut hasher = Hasher::default();
    let mut words = 0;
    let mut word: Option<Word> = None;
    let mut last = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let kind = class(byte);
        if kind & WORD != 0 {
            let open = word.get_or_insert(Word {
                start: at,
                before: hasher,
                all: WORD | HEX,
                any: 0,
            });
            open.all &= kind;
            open.any |= kind;
            if kind & DIGIT == 0 {
                hasher.push(byte);
            } else if last & DIGIT == 0 {
                hasher.push(b'0');
            }
        } else {
            if let Some(ended) = word.take().filter(|word| word.is_number(bytes, at)) {
                hasher = ended.before;
                hasher.push(b'0');
            }
            let blank = kind & BLANK != 0;
            if !(blank && last & BLANK != 0) {
                words += usize::from(blank);
                if words >= max_words {
                    break;
                }
                hasher.push(byte);
            }
        }
        last = kind;
    }
    if let Some(ended) = word.filter(|word| word.is_number(bytes, bytes.len())) {
        hasher = ended.before;
        hasher.push(b'0');
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn folded(text: &str) -> String {
        let mut output = Output::default();
        write(text.lines(), &mut output);
        let text = output.finish(text.lines().count(), usize::MAX);
        text.rsplit_once('\n').unwrap().0.to_owned()
    }

    #[test]
    fn lines_that_differ_in_numbers_are_told_by_the_first_and_the_last() {
        let text = (0..9)
            .map(|step| format!("step {step} took 1{step}.5 ms\n"))
            .collect::<Vec<_>>()
            .concat();
        assert_eq!(folded(&text), "step 0 took 10.5 ms ×9\nstep 8 took 18.5 ms");
    }

    #[test]
    fn fewer_than_four_are_all_shown() {
        let text = "step 1\nother\nstep 2\nstep 3";
        assert_eq!(folded(text), text);
    }

    #[test]
    fn numbers_are_masked_in_every_spelling() {
        for (one, other) in [
            ("at 0x7ffe12ab", "at 0x1"),
            ("id 3f2504e0-4f89", "id 1234567-1"),
            ("a   1", "a 12"),
            ("v2.10.1 in 3s", "v1.2.3 in 45s"),
        ] {
            assert_eq!(mask(one), mask(other), "{one} {other}");
        }
        for (one, other) in [
            ("ok 1", "bad 1"),
            ("facade", "decade"),
            ("a 1 b", "a 1 c"),
            ("-1", "1"),
            ("test_a", "test_b"),
        ] {
            assert_ne!(mask(one), mask(other), "{one} {other}");
        }
    }

    #[test]
    fn an_odd_line_among_many_stays() {
        let mut lines: Vec<String> = (0..500).map(|row| format!("row {row} is fine")).collect();
        lines.insert(250, "row 250 is broken".to_owned());
        let text = lines.join("\n");
        assert_eq!(
            folded(&text),
            "row 0 is fine ×500\nrow 250 is broken\nrow 499 is fine"
        );
    }

    #[test]
    fn the_number_of_templates_is_bounded() {
        let words: Vec<String> = (0..20_000_u32)
            .map(|number| {
                let letter = |shift: u32| char::from(b'a' + (number >> shift & 15) as u8);
                format!(
                    "{}{}{}{} x y z u v",
                    letter(0),
                    letter(4),
                    letter(8),
                    letter(12)
                )
            })
            .collect();
        let mut templates = Templates::default();
        for (number, line) in words.iter().enumerate() {
            templates.add(number, line);
        }
        assert!(templates.len() <= MAX_MASKS + MAX_COARSE_MASKS + 1);
        assert_eq!(
            templates
                .iter()
                .map(|template| template.count)
                .sum::<usize>(),
            20_000
        );
    }

    #[test]
    fn first_words_are_enough_for_a_coarse_template() {
        let mut templates = Templates::default();
        for (number, line) in ["GET /a from x to y z", "GET /a from x to y w", "PUT /b"]
            .iter()
            .enumerate()
        {
            templates.add(number, line);
        }
        let coarse = templates.merged(|template| coarse_mask(template.first.line, 5));
        let counts: Vec<_> = coarse.iter().map(|template| template.count).collect();
        assert_eq!(counts, [2, 1]);
    }
}
