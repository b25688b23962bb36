//! The picture as a file.

use crate::job::Place;
use crate::picture::Picture;

/// A picture on which rows are put.
#[derive(Clone, Debug)]
pub struct Canvas {
    picture: Picture,
    pixels: Vec<u8>,
}

impl Canvas {
    /// An empty one.
    pub fn new(picture: Picture) -> Self {
        Self { picture, pixels: vec![0; picture.width() as usize * picture.height() as usize] }
    }

    /// Puts a row in its place.
    ///
    /// # Panics
    /// If the picture has no such row, or it has another length.
    pub fn put(&mut self, place: Place, row: &[u8]) {
        let (left, top) = self.picture.origin(place.tile);
        let start = ((top + place.row) * self.picture.width() + left) as usize;
        self.pixels[start..start + self.picture.tile_width(place.tile) as usize].copy_from_slice(row);
    }

    /// As a PNG file; the same pixels give the same bytes.
    pub fn png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.picture.width(), self.picture.height());
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(palette());
        encoder
            .write_header()
            .and_then(|mut writer| writer.write_image_data(&self.pixels))
            .expect("memory takes anything, and there are as many pixels as announced");
        file
    }
}

/// Night to day and back towards the edge; what is inside is black.
fn palette() -> Vec<u8> {
    let mix = |from: [u32; 3], to: [u32; 3], part: u32, of: u32| {
        [0, 1, 2]
            .map(|i| u8::try_from((from[i] * (of - part) + to[i] * part) / of).expect("between two bytes"))
    };
    let stops = [
        (1, [10, 14, 60]),
        (4, [22, 62, 150]),
        (8, [70, 150, 220]),
        (14, [238, 242, 205]),
        (28, [250, 175, 45]),
        (60, [175, 55, 25]),
        (255, [55, 10, 45]),
    ];
    let colour = |tries: u32| {
        let next = stops.iter().position(|(at, _)| *at > tries).unwrap_or(stops.len() - 1).max(1);
        let ((from, dark), (to, light)) = (stops[next - 1], stops[next]);
        mix(dark, light, tries - from, to - from)
    };
    [[0; 3]].into_iter().chain((1..=255).map(colour)).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fractal;
    use crate::picture::TILE_WIDTH;

    #[test]
    fn the_file_holds_the_pixels() {
        let picture = Picture::new(TILE_WIDTH + 6, 40).unwrap();
        let mut canvas = Canvas::new(picture);
        for tile in picture.tiles() {
            for row in 0..picture.tile_height(tile) {
                canvas.put(Place { tile, row }, &fractal::row(&picture, tile, row));
            }
        }
        let file = canvas.png();
        assert_eq!(file, canvas.clone().png());
        let mut reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
        assert_eq!(reader.info().palette.as_ref().map(|palette| palette.len()), Some(3 * 256));
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, canvas.pixels);
        assert!(pixels.contains(&0) && pixels.iter().any(|pixel| *pixel > 10), "there is something to see");
    }
}
