//! A column row by row, whatever its chunks.

use crate::chunks::{Chunks, Column};
use crate::error::Error;

/// Where a reader is in a column; before the first row at the beginning.
#[derive(Debug)]
pub struct Rows<C: Column> {
    chunks: Chunks<C>,
    chunk: Option<C>,
    /// The next row of the chunk.
    next: usize,
}

impl<C: Column> Rows<C> {
    /// The rows of those chunks.
    pub fn new(chunks: Chunks<C>) -> Self {
        Self {
            chunks,
            chunk: None,
            next: 0,
        }
    }

    /// The chunk and number of the next row; `None` behind the last one.
    ///
    /// # Errors
    /// What the next chunk reports.
    pub fn next_row(&mut self) -> Result<Option<(&C, usize)>, Error> {
        while self
            .chunk
            .as_ref()
            .is_none_or(|chunk| self.next >= chunk.len())
        {
            // The last chunk gives its memory back before the next one is asked for.
            self.chunk = None;
            self.next = 0;
            let Some(chunk) = self.chunks.next_chunk()? else {
                return Ok(None);
            };
            self.chunk = Some(chunk);
        }
        let row = self.next;
        self.next += 1;
        Ok(self.chunk.as_ref().map(|chunk| (chunk, row)))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use std::ptr::NonNull;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::abi::ArrowArrayStream;
    use crate::hand::{Hand, bytes_of, stream};
    use crate::integers::Integers;

    fn chunk(numbers: &[i8], released: &Arc<AtomicUsize>) -> Hand {
        Hand {
            format: "c",
            length: i64::try_from(numbers.len()).unwrap(),
            buffers: vec![
                None,
                Some(
                    numbers
                        .iter()
                        .flat_map(|number| number.to_ne_bytes())
                        .collect(),
                ),
            ],
            released: Arc::clone(released),
            ..Hand::default()
        }
    }

    fn chunks(stream: &mut ArrowArrayStream) -> Result<Chunks<Integers>, Error> {
        // SAFETY: the stream was made by hand and is held by the caller.
        unsafe { Chunks::from_stream(NonNull::from(stream)) }
    }

    #[test]
    fn rows_go_on_over_empty_chunks_and_each_chunk_is_released_before_the_next() {
        let released = Arc::new(AtomicUsize::new(0));
        let parts = [&[1, 2][..], &[], &[3]].map(|part| chunk(part, &released));
        let mut stream = stream(parts.into(), None);
        let mut rows = Rows::new(chunks(&mut stream).unwrap());
        let mut seen = Vec::new();
        while let Some((chunk, row)) = rows.next_row().unwrap() {
            seen.push((chunk.get(row).unwrap(), released.load(Ordering::Relaxed)));
        }
        // The schema is the first to go.
        assert_eq!(seen, [(Some(1), 1), (Some(2), 1), (Some(3), 3)]);
        assert!(rows.next_row().unwrap().is_none());
        drop(rows);
        assert_eq!(
            released.load(Ordering::Relaxed),
            5,
            "schema, three arrays, stream"
        );
    }

    #[test]
    fn chunks_that_nobody_asked_for_are_released() {
        let released = Arc::new(AtomicUsize::new(0));
        let parts = [chunk(&[1], &released), chunk(&[2], &released)];
        let mut stream = stream(parts.into(), None);
        drop(chunks(&mut stream).unwrap());
        assert_eq!(released.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn a_stream_is_consumed_once() {
        let mut stream = stream(vec![chunk(&[1], &Arc::default())], None);
        assert!(chunks(&mut stream).is_ok());
        assert_eq!(chunks(&mut stream).unwrap_err(), Error::Consumed);
    }

    #[test]
    fn an_array_is_consumed_once() {
        let hand = Hand {
            format: "c",
            length: 1,
            buffers: vec![None, bytes_of!(i8: 1)],
            ..Hand::default()
        };
        let mut chunks: Chunks<Integers> = hand.chunks().unwrap();
        assert!(chunks.next_chunk().unwrap().is_some());
        assert!(chunks.next_chunk().unwrap().is_none());
    }

    #[test]
    fn what_a_stream_says_about_its_failure_is_reported() {
        let mut stream = stream(vec![chunk(&[1], &Arc::default())], Some("the disk is gone"));
        let mut rows = Rows::new(chunks(&mut stream).unwrap());
        assert!(rows.next_row().unwrap().is_some());
        let error = rows.next_row().unwrap_err();
        assert_eq!(error, Error::Stream("the disk is gone".to_owned()));
    }
}
