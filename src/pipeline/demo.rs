//! The drawn clip as a video, as a job, as pictures in a folder, and as the truth that results are held against.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crossbeam_channel::Sender;

use super::PipelineError;
use super::hop::Tracked;
use super::job::{Input, ObjectSpec, PromptSpec, TrackJob};
use super::message::{Event, Summary};
use super::token::Token;
use crate::base::{Click, FrameIndex, Label, Pts, Rational, RgbFrame, Timings};
use crate::demo::DemoClip;
use crate::metrics::region_similarity;
use crate::video::{VideoError, VideoInfo, VideoSource};

/// The drawn clip, decoded from nothing.
pub(super) struct DemoSource {
    info: VideoInfo,
}

impl DemoSource {
    pub fn new() -> Self {
        let seconds = f64::from(DemoClip::FRAMES) / DemoClip::FRAME_RATE.as_f64();
        let info = VideoInfo {
            path: PathBuf::from("demo"),
            size: DemoClip::SIZE,
            frames: DemoClip::FRAMES,
            frame_rate: DemoClip::FRAME_RATE,
            duration: Some(seconds),
            format: "drawn by masklet".into(),
            rotation: 0,
            sample_aspect: Rational::new(1, 1),
            variable_frame_rate: false,
            warnings: Vec::new(),
        };
        Self { info }
    }
}

impl VideoSource for DemoSource {
    fn info(&self) -> &VideoInfo {
        &self.info
    }

    fn frame(&mut self, frame: FrameIndex) -> Result<RgbFrame, VideoError> {
        let last = DemoClip::FRAMES - 1;
        if frame.0 > last {
            return Err(VideoError::NoSuchFrame { path: self.info.path.clone(), frame, last });
        }
        Ok(DemoClip.frame(frame))
    }

    fn pts(&self, frame: FrameIndex) -> Option<Pts> {
        let Rational { num, den } = DemoClip::FRAME_RATE;
        let time_base = Rational::new(den, num);
        (frame.0 < DemoClip::FRAMES).then_some(Pts { ticks: i64::from(frame.0), time_base })
    }

    fn file_name(&self, _: FrameIndex) -> Option<&str> {
        None
    }
}

impl TrackJob {
    /// The drawn clip with the clicks that mean its objects.
    pub fn demo() -> Self {
        let objects = DemoClip::objects().iter().map(|object| {
            let clicks = object.clicks.iter().map(|&at| Click { at, label: Label::Positive }).collect();
            let prompts = [(object.first_frame, PromptSpec { clicks, ..PromptSpec::default() })];
            ObjectSpec { name: object.name.into(), class: object.class.into(), prompts: prompts.into() }
        });
        Self { objects: objects.collect(), ..Self::new(Input::Demo) }
    }
}

/// How well results match the drawn clip's exact masks.
pub(super) struct Truth {
    /// Sum of the IoUs and number of frames, per object.
    sums: Vec<(f64, u32)>,
}

impl Truth {
    /// The truth of `input`, which only the drawn clip has.
    pub fn of(input: &Input) -> Option<Self> {
        (*input == Input::Demo).then(|| Self { sums: vec![(0.0, 0); DemoClip::objects().len()] })
    }

    /// Adds the masks of one frame; object ids count from 1 in the order of the clip's objects.
    pub fn compare(&mut self, tracked: &Tracked) {
        for (index, truth) in DemoClip.truth(tracked.frame) {
            let found = tracked.objects.iter().find(|o| o.object.0 as usize == index + 1);
            if let (Some(found), Some((sum, frames))) = (found, self.sums.get_mut(index)) {
                // Both have the clip's size.
                *sum += region_similarity(&found.mask.decode(), &truth).unwrap_or(0.0);
                *frames += 1;
            }
        }
    }

    /// Mean IoU per object; 0 for one that was not tracked.
    pub fn means(&self) -> Vec<f64> {
        self.sums.iter().map(|&(sum, frames)| sum / f64::from(frames.max(1))).collect()
    }
}

/// Writes the clip's pictures to `dir/frames` and its masks to `dir/masks/OBJECT`, as PNG.
///
/// # Errors
/// A file cannot be written.
pub(super) fn draw(
    dir: &Path,
    overwrite: bool,
    token: &Token,
    tell: &Sender<Event>,
) -> Result<Event, PipelineError> {
    let start = Instant::now();
    let (frames, masks) = (dir.join("frames"), dir.join("masks"));
    for folder in [&frames, &masks] {
        let used = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if used && !overwrite {
            return Err(PipelineError::Exists(folder.clone()));
        }
    }
    let folders: Vec<_> = DemoClip::objects().iter().map(|o| masks.join(o.name.replace(' ', "_"))).collect();
    for folder in folders.iter().chain([&frames]) {
        fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e.to_string()))?;
    }
    let (generation, total) = (token.generation(), DemoClip::FRAMES);
    let mut done = 0;
    for frame in (0..total).map(FrameIndex) {
        if token.cancelled() {
            break;
        }
        let name = format!("{:05}.png", frame.0);
        let (picture, truth) = (DemoClip.frame(frame), DemoClip.truth(frame));
        save(&frames.join(&name), picture.data(), image::ColorType::Rgb8)?;
        for (index, mask) in truth {
            let grey: Vec<u8> = mask.data().iter().map(|v| v * 255).collect();
            if let Some(folder) = folders.get(index) {
                save(&folder.join(&name), &grey, image::ColorType::L8)?;
            }
        }
        done = frame.0 + 1;
        let _ = tell.send(Event::Progress { generation, what: "drawing".into(), done, total });
    }
    Ok(Event::Finished(Summary {
        generation,
        tracked: done,
        total,
        interrupted: done < total,
        took: start.elapsed(),
        timings: Timings::default(),
        written: vec![frames, masks],
        notes: Vec::new(),
        truth: Vec::new(),
    }))
}

/// Under a temporary name first, so that a full disk leaves no half picture.
fn save(path: &Path, data: &[u8], colour: image::ColorType) -> Result<(), PipelineError> {
    let part = path.with_extension("part");
    let size = DemoClip::SIZE;
    let written =
        image::save_buffer_with_format(&part, data, size.width, size.height, colour, image::ImageFormat::Png)
            .map_err(|e| e.to_string())
            .and_then(|()| fs::rename(&part, path).map_err(|e| e.to_string()));
    written.map_err(|reason| {
        // The first error counts; that the rest could not be removed adds nothing.
        let _ = fs::remove_file(&part);
        unwritable(path, &reason)
    })
}

fn unwritable(path: &Path, reason: &str) -> PipelineError {
    PipelineError::Output(format!("{} cannot be written: {reason}; choose another folder", path.display()))
}
