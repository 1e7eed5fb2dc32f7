//! Line numbers of the hits of each file where not all of them stand with their texts.

use super::HITS_WITH_LINES_AROUND;
use super::hits::Hits;

/// Line numbers of one file that are shown where there are many hits.
const NUMBERS: [usize; 4] = [12, 6, 3, 1];

/// How many numbers of each file there is room for, and how many bytes they have with the paths. Hits that
/// somebody may go through have all.
pub(super) fn numbers(hits: &Hits<'_>, target_bytes: usize) -> (usize, usize) {
    let mut sizes = [0_usize; NUMBERS.len()];
    for rows in hits.rows.chunk_by(|one, other| one.file == other.file) {
        let path = rows.first().map_or("", |row| hits.path(row)).len() + 2;
        let of_hits = rows.iter().filter(|row| row.row.hit);
        let mut bytes = 0;
        let mut added = [0; NUMBERS.len()];
        for (index, row) in of_hits.take(NUMBERS[0]).enumerate() {
            bytes += row.row.number.len() + 1;
            for (added, most) in added.iter_mut().zip(NUMBERS) {
                if index < most {
                    *added = bytes;
                }
            }
        }
        for (size, added) in sizes.iter_mut().zip(added) {
            *size += path + added;
        }
    }
    let [most, .., least] = sizes;
    if hits.found <= HITS_WITH_LINES_AROUND {
        return (usize::MAX, most);
    }
    let mut options = NUMBERS.into_iter().zip(sizes);
    let fits = options.find(|(_, size)| size * 4 <= target_bytes * 3);
    fits.unwrap_or((1, least))
}
