#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "tests may panic"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::hand::{Hand, bytes_of};

type Read = Result<Vec<Option<String>>, Error>;

fn read(hand: Hand) -> Read {
    let texts: Texts = hand.column()?;
    (0..texts.len())
        .map(|row| Ok(texts.get(row)?.map(str::to_owned)))
        .collect()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

fn utf8(offsets: &[i32], data: &[u8]) -> Hand {
    Hand {
        format: "u",
        length: i64::try_from(offsets.len()).unwrap() - 1,
        buffers: vec![
            None,
            Some(offsets.iter().flat_map(|at| at.to_ne_bytes()).collect()),
            Some(data.to_vec()),
        ],
        ..Hand::default()
    }
}

/// A view of an input in place, or of one in a buffer.
fn view(length: i32, rest: [i32; 3]) -> Vec<u8> {
    let numbers = [length, rest[0], rest[1], rest[2]];
    numbers.iter().flat_map(|part| part.to_ne_bytes()).collect()
}

fn views(views: &[Vec<u8>], sizes: &[i64], data: &[&[u8]]) -> Hand {
    let mut buffers = vec![None, Some(views.concat())];
    buffers.extend(data.iter().map(|bytes| Some(bytes.to_vec())));
    let sizes: Vec<u8> = sizes.iter().flat_map(|size| size.to_ne_bytes()).collect();
    buffers.push(Some(sizes));
    Hand {
        format: "vu",
        length: i64::try_from(views.len()).unwrap(),
        buffers,
        ..Hand::default()
    }
}

#[test]
fn utf8_is_read_and_its_memory_given_back_once() {
    let released = Arc::new(AtomicUsize::new(0));
    let hand = Hand {
        released: Arc::clone(&released),
        ..utf8(&[0, 1, 1, 4], "aé1".as_bytes())
    };
    assert_eq!(read(hand), Ok(some(&["a", "", "é1"])));
    assert_eq!(released.load(Ordering::Relaxed), 2, "schema and array");
}

#[test]
fn large_utf8_is_read() {
    let hand = Hand {
        format: "U",
        length: 2,
        buffers: vec![None, bytes_of!(i64: 0, 2, 3), Some(b"abc".to_vec())],
        ..Hand::default()
    };
    assert_eq!(read(hand), Ok(some(&["ab", "c"])));
}

#[test]
fn a_slice_begins_at_its_offset_in_offsets_and_validity() {
    let mut hand = utf8(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], b"abcdefghij");
    hand.offset = 7;
    hand.length = 3;
    hand.null_count = -1;
    hand.buffers[0] = Some(vec![0b1000_0000, 0b0000_0010]);
    let expected = vec![Some("h".to_owned()), None, Some("j".to_owned())];
    assert_eq!(read(hand), Ok(expected));
}

#[test]
fn views_are_in_place_or_in_one_of_many_buffers() {
    let short = view(2, [i32::from_ne_bytes(*b"hi\0\0"), 0, 0]);
    let twelve = {
        let mut twelve = 12_i32.to_ne_bytes().to_vec();
        twelve.extend_from_slice(b"twelve bytes");
        twelve
    };
    let long = view(13, [0, 1, 1]);
    let hand = views(&[short, twelve, long], &[1, 14], &[b"-", b"-thirteen long"]);
    assert_eq!(
        read(hand),
        Ok(some(&["hi", "twelve bytes", "thirteen long"]))
    );
}

#[test]
fn views_beyond_their_buffers_are_refused() {
    for rest in [[0, 0, 2], [0, 1, 0], [0, 0, -1], [0, -1, 0]] {
        let hand = views(&[view(13, rest)], &[14], &[b"fourteen bytes"]);
        assert_eq!(read(hand), Err(Error::MalformedRow(0)), "{rest:?}");
    }
    let negative = views(&[view(-1, [0, 0, 0])], &[], &[]);
    assert_eq!(read(negative), Err(Error::MalformedRow(0)));
    let size = views(&[view(13, [0, 0, 0])], &[-1], &[b"fourteen bytes"]);
    assert_eq!(read(size), Err(Error::MalformedRow(0)));
}

#[test]
fn a_dictionary_of_any_index_type_is_read() {
    let indices = [
        ("c", bytes_of!(i8: 1, 0, 1)),
        ("C", bytes_of!(u8: 1, 0, 1)),
        ("s", bytes_of!(i16: 1, 0, 1)),
        ("S", bytes_of!(u16: 1, 0, 1)),
        ("i", bytes_of!(i32: 1, 0, 1)),
        ("I", bytes_of!(u32: 1, 0, 1)),
        ("l", bytes_of!(i64: 1, 0, 1)),
        ("L", bytes_of!(u64: 1, 0, 1)),
    ];
    for (format, indices) in indices {
        let hand = Hand {
            format,
            length: 3,
            buffers: vec![None, indices],
            dictionary: Some(Box::new(utf8(&[0, 2, 3], b"nox"))),
            ..Hand::default()
        };
        assert_eq!(read(hand), Ok(some(&["x", "no", "x"])), "{format}");
    }
}

#[test]
fn an_index_beyond_its_dictionary_is_refused() {
    for index in [2, -1] {
        let hand = Hand {
            format: "i",
            length: 1,
            buffers: vec![None, bytes_of!(i32: index)],
            dictionary: Some(Box::new(utf8(&[0, 2, 3], b"nox"))),
            ..Hand::default()
        };
        assert_eq!(read(hand), Err(Error::MalformedRow(0)));
    }
}

#[test]
fn a_null_in_a_dictionary_is_a_null() {
    let mut values = utf8(&[0, 2, 2], b"no");
    values.null_count = 1;
    values.buffers[0] = Some(vec![1]);
    let hand = Hand {
        format: "C",
        length: 2,
        buffers: vec![None, Some(vec![0, 1])],
        dictionary: Some(Box::new(values)),
        ..Hand::default()
    };
    assert_eq!(read(hand), Ok(vec![Some("no".to_owned()), None]));
}

#[test]
fn a_null_column_has_rows_and_no_buffers() {
    let hand = Hand {
        format: "n",
        length: 2,
        null_count: 2,
        ..Hand::default()
    };
    assert_eq!(read(hand), Ok(vec![None, None]));
}

#[test]
fn no_rows_need_no_buffers() {
    let hand = Hand {
        format: "u",
        buffers: vec![None, None, None],
        ..Hand::default()
    };
    assert_eq!(read(hand), Ok(vec![]));
}

#[test]
fn empty_texts_need_no_data() {
    let mut hand = utf8(&[0, 0, 0], b"");
    hand.buffers[2] = None;
    assert_eq!(read(hand), Ok(some(&["", ""])));
}

#[test]
fn offsets_that_fall_or_leave_the_data_are_refused() {
    let cases = [
        (&[0, 2, 1][..], Error::MalformedRow(0)),
        (&[0, 2, 1, 3], Error::MalformedRow(1)),
        (&[0, 5, 3], Error::MalformedRow(0)),
        (&[-1, 2, 3], Error::MalformedRow(0)),
        (&[0, 2, -1], Error::Malformed("a negative offset")),
    ];
    for (offsets, error) in cases {
        assert_eq!(read(utf8(offsets, b"abc")), Err(error), "{offsets:?}");
    }
}

#[test]
fn what_is_no_utf8_is_refused_where_it_is_no_null() {
    assert_eq!(read(utf8(&[0, 1, 2], b"a\xff")), Err(Error::NoUtf8(1)));
    let cut = utf8(&[0, 1, 2], "é".as_bytes());
    assert_eq!(read(cut), Err(Error::NoUtf8(0)));
    let mut hidden = utf8(&[0, 1, 2], b"a\xff");
    hidden.null_count = 1;
    hidden.buffers[0] = Some(vec![1]);
    assert_eq!(read(hidden), Ok(vec![Some("a".to_owned()), None]));
}

#[test]
fn counts_that_cannot_be_are_refused() {
    let wrong = |change: fn(&mut Hand)| {
        let mut hand = utf8(&[0, 1], b"a");
        change(&mut hand);
        read(hand).unwrap_err()
    };
    let rows = Error::Malformed("a negative length or offset");
    assert_eq!(wrong(|hand| hand.length = -1), rows);
    assert_eq!(wrong(|hand| hand.offset = -1), rows);
    let many = Error::Malformed("more rows than memory can hold");
    assert_eq!(wrong(|hand| hand.length = i64::MAX), many);
    let few = Error::Malformed("buffers are missing");
    assert_eq!(wrong(|hand| hand.buffers.truncate(2)), few);
    let absent = Error::Malformed("rows without a buffer");
    assert_eq!(wrong(|hand| hand.buffers[1] = None), absent);
    let nulls = Error::Malformed("nulls without a validity buffer");
    assert_eq!(wrong(|hand| hand.null_count = 1), nulls);
    assert_eq!(wrong(|hand| hand.buffers[2] = None), Error::MalformedRow(0));
}

#[test]
fn other_types_are_refused_by_name() {
    let refused = |format| {
        let hand = Hand {
            format,
            ..Hand::default()
        };
        hand.column::<Texts>().unwrap_err().to_string()
    };
    assert!(refused("z").ends_with("got binary: cast it to a string type"));
    assert!(refused("+s").ends_with("got a table: give one column of it"));
    assert!(refused("l").ends_with("got numbers"));
    assert!(refused("tdD").ends_with("got times"));
    assert!(refused("g").ends_with("got floating point"));
    assert!(refused("+vL").ends_with("got lists"));
    assert!(refused("+r").ends_with("got run-end encoding: decode it"));
    assert!(refused("+ud:0").ends_with("got the format \"+ud:0\""));
}

#[test]
fn a_row_that_is_not_there_is_refused() {
    let texts: Texts = utf8(&[0, 1], b"a").column().unwrap();
    assert_eq!(texts.get(1), Err(Error::MalformedRow(1)));
}
