//! Prompts as they are typed: `X,Y[@FRAME]`, `X0,Y0,X1,Y1[@FRAME]`, `PNG[@FRAME]`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::base::{BoxXyxy, FrameIndex, Point};

/// A value and the frame it is meant for.
pub(super) type At<T> = (T, FrameIndex);

/// Reads `X,Y[@FRAME]`.
pub(super) fn point(text: &str) -> Result<At<Point>, String> {
    let (text, frame) = frame(text)?;
    let [x, y] = numbers(text, "X,Y[@FRAME]")?;
    Ok((Point { x, y }, frame))
}

/// Reads `X0,Y0,X1,Y1[@FRAME]`.
pub(super) fn bounds(text: &str) -> Result<At<BoxXyxy>, String> {
    let (text, frame) = frame(text)?;
    let [x0, y0, x1, y1] = numbers(text, "X0,Y0,X1,Y1[@FRAME]")?;
    Ok((BoxXyxy { x0, y0, x1, y1 }, frame))
}

/// Reads `PNG[@FRAME]`; an `@` that is not followed by a number alone is part of the name.
pub(super) fn mask(text: &OsString) -> At<PathBuf> {
    let split = text.to_str().and_then(|text| text.rsplit_once('@'));
    let numbered = split.and_then(|(path, frame)| Some((path, frame.parse().ok()?)));
    numbered.map_or_else(
        || (PathBuf::from(text), FrameIndex(0)),
        |(path, frame)| (PathBuf::from(path), FrameIndex(frame)),
    )
}

fn frame(text: &str) -> Result<(&str, FrameIndex), String> {
    let Some((value, frame)) = text.split_once('@') else { return Ok((text, FrameIndex(0))) };
    let number =
        frame.trim().parse().map_err(|_| format!("{frame:?} is no frame number; frames count from 0"))?;
    Ok((value, FrameIndex(number)))
}

fn numbers<const N: usize>(text: &str, shape: &str) -> Result<[f32; N], String> {
    let parsed: Result<Vec<f32>, _> = text.split(',').map(|part| part.trim().parse::<f32>()).collect();
    parsed.ok().and_then(|v| v.try_into().ok()).ok_or_else(|| format!("expected {shape}, in pixels"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_read() {
        assert_eq!(point("3,4.5"), Ok((Point { x: 3.0, y: 4.5 }, FrameIndex(0))));
        assert_eq!(point("-1, 2@17"), Ok((Point { x: -1.0, y: 2.0 }, FrameIndex(17))));
        assert!(point("nan,1").is_ok_and(|(p, _)| p.x.is_nan()));
        for wrong in ["", "1", "1,2,3", "a,b", "1,2@", "1,2@x", "1,2@-1", "1,2@3@4"] {
            assert!(point(wrong).is_err(), "{wrong}");
        }
        let expected = BoxXyxy { x0: 1.0, y0: 2.0, x1: 3.0, y1: 4.0 };
        assert_eq!(bounds("1,2,3,4@5"), Ok((expected, FrameIndex(5))));
        assert!(bounds("1,2,3").is_err());
    }

    #[test]
    fn mask_names_may_hold_anything() {
        let read = |text: &str| mask(&OsString::from(text));
        assert_eq!(read("a.png"), ("a.png".into(), FrameIndex(0)));
        assert_eq!(read("a@2x.png@7"), ("a@2x.png".into(), FrameIndex(7)));
        assert_eq!(read("маска@2x.png"), ("маска@2x.png".into(), FrameIndex(0)));
    }
}
