//! The Mandelbrot set, in whole numbers: every machine computes the same bytes.

use crate::picture::{Picture, Tile};

/// How often a point is tried. A point that has not escaped by then counts as inside.
const TRIES_MAX: u8 = 255;
/// Numbers have so many binary digits after the point. Those of a point that has not escaped are below 8, so that products
/// stay below 2^62.
const POINT: u32 = 28;
const ONE: i64 = 1 << POINT;

/// The part of the plane that is shown: the whole set, if the picture is half as wide again as it is high.
const CENTRE: (i64, i64) = (-7 * ONE / 10, 0);
const EXTENT: (i64, i64) = (3 * ONE, 2 * ONE);

/// A row of a tile: for every pixel, how many tries it took to escape; 0 if it is inside.
///
/// # Panics
/// If the picture has no such row.
pub fn row(picture: &Picture, tile: Tile, row: u32) -> Vec<u8> {
    assert!(picture.has(tile) && row < picture.tile_height(tile), "no row {row} of {tile:?} in {picture:?}");
    let (left, top) = picture.origin(tile);
    (left..left + picture.tile_width(tile)).map(|x| pixel(picture, x, top + row)).collect()
}

fn pixel(picture: &Picture, x: u32, y: u32) -> u8 {
    let (width, height) = (i64::from(picture.width()), i64::from(picture.height()));
    // Pixels are square, and all of the extent is in the picture.
    let step = (EXTENT.0 / width).max(EXTENT.1 / height);
    let at = |place: u32, length: i64, centre: i64| centre + (2 * i64::from(place) + 1 - length) * step / 2;
    tries(at(x, width, CENTRE.0), at(y, height, CENTRE.1))
}

/// How many tries it takes c to escape.
fn tries(cx: i64, cy: i64) -> u8 {
    // Two pixels of a narrow picture may be far outside, where products would be too large.
    if cx.abs() > 4 * ONE || cy.abs() > 4 * ONE {
        return 1;
    }
    let (mut x, mut y) = (0, 0);
    for tried in 1..=TRIES_MAX {
        let (xx, yy) = ((x * x) >> POINT, (y * y) >> POINT);
        if xx + yy > 4 * ONE {
            return tried;
        }
        (x, y) = (xx - yy + cx, ((x * y) >> (POINT - 1)) + cy);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_the_set_is_so() {
        let at = |x: i64, y: i64| tries(x * ONE / 100, y * ONE / 100);
        assert_eq!((at(0, 0), at(-100, 0), at(-200, 0)), (0, 0, 0), "the origin, the disc at -1, the tip");
        assert_eq!((at(100, 0), at(300, 300)), (4, 2), "1, 2, 5 leaves the circle of radius 2");
        assert_eq!(at(-75, 20), at(-75, -20), "it is symmetric");
    }

    #[test]
    fn rows_of_tiles_are_the_pixels_of_the_picture() {
        let picture = Picture::new(130, 70).unwrap();
        for tile in picture.tiles() {
            let (left, top) = picture.origin(tile);
            for line in 0..picture.tile_height(tile) {
                let row = row(&picture, tile, line);
                assert_eq!(row.len(), picture.tile_width(tile) as usize);
                assert_eq!(row[0], pixel(&picture, left, top + line));
            }
        }
    }

    #[test]
    fn odd_shapes_do_not_overflow() {
        for (width, height) in [(1, 1), (1, 32768), (65536, 1), (2, 3)] {
            let picture = Picture::new(width, height).unwrap();
            for tile in picture.tiles() {
                row(&picture, tile, 0);
            }
        }
    }
}
