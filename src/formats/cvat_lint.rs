//! Looks through a CVAT XML 1.1 file and says what CVAT trips over. One shape is kept at a time.

use std::collections::HashSet;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::findings::Findings;
use super::row_runs::from_row_runs;
use crate::base::Size;

#[derive(Default)]
struct Seen {
    /// Names of the elements that are open.
    open: Vec<String>,
    labels: HashSet<String>,
    size: (Option<u32>, Option<u32>),
    stop: Option<u64>,
    tracks: u64,
    images: u64,
    masks: u64,
    other_shapes: u64,
    /// Label, last frame and whether that was outside, of the track that is open.
    track: Option<(String, Option<u64>, bool)>,
    version: bool,
}

/// Looks through `path`; gives the number of masks that are not outside.
pub fn lint(path: &Path, findings: &mut Findings) -> u64 {
    let mut reader = match Reader::from_file(path) {
        Ok(reader) => reader,
        Err(error) => {
            findings.error("", error.to_string());
            return 0;
        }
    };
    let (mut seen, mut buffer) = (Seen::default(), Vec::new());
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Start(element)) => {
                seen.start(&element, findings);
                seen.open.push(name(&element));
            }
            Ok(Event::Empty(element)) => {
                seen.start(&element, findings);
                seen.end(&name(&element), findings);
            }
            Ok(Event::Text(text)) => {
                seen.text(text.xml_content(quick_xml::XmlVersion::Implicit1_0).trim());
            }
            Ok(Event::End(_)) => {
                if let Some(name) = seen.open.pop() {
                    seen.end(&name, findings);
                }
            }
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => {
                findings.error("", format!("this is no sound XML: {error}"));
                break;
            }
        }
    }
    if !seen.open.is_empty() {
        findings.error("", format!("it ends within <{}>", seen.open.join("> <")));
    }
    if !seen.version {
        findings.warn("", "it has no <version>1.1</version>");
    }
    if seen.tracks + seen.images == 0 {
        findings.error("", "there is neither a track nor an image");
    }
    if seen.other_shapes > 0 {
        findings.warn("", format!("{} shapes are no masks and were not looked at", seen.other_shapes));
    }
    findings.count("tracks", seen.tracks);
    findings.count("images", seen.images);
    findings.count("masks", seen.masks);
    seen.masks
}

fn name(element: &BytesStart<'_>) -> String {
    element.name().as_ref().to_owned()
}

/// The attribute `key` as text.
fn attribute(element: &BytesStart<'_>, key: &str) -> Option<String> {
    let attribute = element.try_get_attribute(key).ok().flatten()?;
    attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(std::borrow::Cow::into_owned)
}

fn number(element: &BytesStart<'_>, key: &str) -> Option<u32> {
    attribute(element, key)?.trim().parse().ok()
}

impl Seen {
    fn start(&mut self, element: &BytesStart<'_>, findings: &mut Findings) {
        match name(element).as_str() {
            "track" => {
                self.tracks += 1;
                let label = attribute(element, "label").unwrap_or_default();
                if !self.labels.is_empty() && !self.labels.contains(&label) {
                    findings.error(
                        format!("track {}", self.tracks),
                        format!("its label {label:?} is none of the task's"),
                    );
                }
                self.track = Some((label, None, false));
            }
            "image" => {
                self.images += 1;
                let size = (number(element, "width"), number(element, "height"));
                if size.0.is_none() || size.1.is_none() {
                    findings.error(format!("image {}", self.images), "it has no width and height");
                }
                self.size = size;
            }
            "mask" => self.mask(element, findings),
            "box" | "polygon" | "polyline" | "points" | "ellipse" | "cuboid" | "skeleton" => {
                self.other_shapes += 1
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let path: Vec<&str> = self.open.iter().map(String::as_str).collect();
        match path[..] {
            [.., "labels", "label", "name"] => drop(self.labels.insert(text.to_owned())),
            [.., "original_size", "width"] => self.size.0 = text.parse().ok(),
            [.., "original_size", "height"] => self.size.1 = text.parse().ok(),
            [.., "task", "stop_frame"] => self.stop = text.parse().ok(),
            ["annotations", "version"] => self.version = text == "1.1",
            _ => {}
        }
    }

    fn mask(&mut self, element: &BytesStart<'_>, findings: &mut Findings) {
        let outside = attribute(element, "outside").as_deref() == Some("1");
        self.masks += u64::from(!outside);
        let frame = number(element, "frame").map(u64::from);
        let place = match frame {
            Some(frame) => format!("track {}, frame {frame}", self.tracks),
            None => format!("mask {}", self.masks),
        };
        if let Some((_, last, ended)) = &mut self.track {
            match frame {
                None => findings.error(&place, "it has no frame"),
                Some(frame) => {
                    if last.is_some_and(|last| last >= frame) {
                        findings.error(&place, "frames of a track must rise");
                    }
                    if self.stop.is_some_and(|stop| frame > stop) {
                        findings.error(&place, format!("the task ends at frame {}", self.stop.unwrap_or(0)));
                    }
                    *last = Some(frame);
                }
            }
            *ended = outside;
        }
        let side = |key| number(element, key);
        let (Some(left), Some(top), Some(width), Some(height)) =
            (side("left"), side("top"), side("width"), side("height"))
        else {
            return findings.error(place, "left, top, width or height is no whole number");
        };
        let runs: Option<Vec<u32>> = attribute(element, "rle")
            .map(|rle| rle.split(',').map(|run| run.trim().parse().ok()).collect::<Option<_>>())
            .unwrap_or_default();
        let Some(runs) = runs else { return findings.error(place, "its rle is no list of whole numbers") };
        let end = |start: u32, length: u32| start.saturating_add(length);
        let picture = match self.size {
            (Some(width), Some(height)) => Size::new(width, height),
            _ => Size::new(end(left, width), end(top, height)),
        };
        if picture.area() > 1 << 27 {
            return findings.error(place, format!("{picture} pixels are too many"));
        }
        match from_row_runs(picture, [left, top, width, height], &runs) {
            Err(fault) => findings.error(place, fault),
            Ok(mask) if mask.area() == 0 => findings.error(place, "its mask is empty"),
            Ok(_) => {}
        }
    }

    fn end(&mut self, name: &str, findings: &mut Findings) {
        if name != "track" {
            return;
        }
        let Some((_, last, ended)) = self.track.take() else { return };
        let place = format!("track {}", self.tracks);
        match last {
            None => findings.warn(place, "it has no mask"),
            Some(last) if !ended && self.stop.is_some_and(|stop| last < stop) => {
                findings.warn(
                    place,
                    format!(
                        "it does not end after frame {last}: CVAT keeps its last mask to the end of the video"
                    ),
                );
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Format;
    use proptest::prelude::*;

    const GOOD: &str = "<?xml version=\"1.0\"?><annotations><version>1.1</version><meta><task><stop_frame>9</stop_frame>\
        <labels><label><name>a</name></label></labels><original_size><width>7</width><height>5</height></original_size>\
        </task></meta><track id=\"0\" label=\"a\"><mask frame=\"1\" outside=\"0\" rle=\"0, 4, 1, 4\" left=\"2\" top=\"1\" width=\"3\" height=\"3\"/>\
        <mask frame=\"2\" outside=\"1\" rle=\"0, 4, 1, 4\" left=\"2\" top=\"1\" width=\"3\" height=\"3\"/></track></annotations>";

    fn run(text: &str) -> Findings {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut findings = Findings::new(file.path(), Format::Cvat);
        lint(file.path(), &mut findings);
        findings
    }

    #[test]
    fn every_fault_is_named() {
        assert_eq!(run(GOOD).list, []);
        assert_eq!(run(GOOD).counts, [("tracks", 1), ("images", 0), ("masks", 1)]);
        for (from, to, expected) in [
            ("0, 4, 1, 4", "0, 4, 1, 5", "add up"),
            ("0, 4, 1, 4", "9", "empty"),
            ("0, 4, 1, 4", "x", "no list"),
            ("left=\"2\"", "left=\"5\"", "lie in"),
            ("label=\"a\"", "label=\"b\"", "none of the task's"),
            ("frame=\"2\"", "frame=\"1\"", "rise"),
            ("frame=\"2\"", "frame=\"10\"", "ends at frame 9"),
            ("outside=\"1\"", "outside=\"0\"", "keeps its last mask"),
            ("1.1<", "1.0<", "version"),
            ("</track></annotations>", "", "ends within"),
            ("</track>", "</image>", "sound XML"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            assert_ne!(bad, GOOD, "{from}");
            let findings = run(&bad);
            assert!(findings.list.iter().any(|f| f.what.contains(expected)), "{to}: {:?}", findings.list);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
        #[test]
        fn damage_never_panics(at in 0usize..GOOD.len(), byte in 32u8..127) {
            let mut bytes = GOOD.as_bytes().to_vec();
            bytes[at] = byte;
            run(&String::from_utf8_lossy(&bytes));
            run(&GOOD[..at]);
        }
    }
}
