//! `--object`, `--class` and the prompts: flags whose order among each other counts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Error, FromArgMatches, value_parser};

use super::prompt_text::{self, At};
use crate::base::{BoxXyxy, Click, Label, Point};
use crate::pipeline::{ObjectSpec, PromptSpec};

/// Name of the object whose prompts come before any `--object`.
const UNNAMED: &str = "object";

/// The objects with their prompts, in the order in which they were named.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectArgs {
    pub objects: Vec<ObjectSpec>,
    pub file: Option<PathBuf>,
}

enum Said {
    Object(String),
    Class(String),
    Click(At<Point>, Label),
    Bounds(At<BoxXyxy>),
    Mask(At<PathBuf>),
}

impl Args for ObjectArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let flag = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(help)
                .action(ArgAction::Append)
                .help_heading("Objects (prompts belong to the --object before them)")
        };
        command
            .arg(flag("object", "NAME", "Starts an object, or goes back to it; its prompts follow"))
            .arg(flag("class", "CLASS", "Class of the object, the category of exports"))
            .arg(
                flag("point", "X,Y[@FRAME]", "A click on the object, in pixels; frames count from 0")
                    .allow_hyphen_values(true)
                    .value_parser(prompt_text::point),
            )
            .arg(
                flag("neg", "X,Y[@FRAME]", "A click beside the object")
                    .allow_hyphen_values(true)
                    .value_parser(prompt_text::point),
            )
            .arg(
                flag("box", "X0,Y0,X1,Y1[@FRAME]", "A box around the object; x1 and y1 are just outside")
                    .allow_hyphen_values(true)
                    .value_parser(prompt_text::bounds),
            )
            .arg(
                flag("mask", "PNG[@FRAME]", "The object's mask: what is not black, in the picture's size")
                    .value_parser(value_parser!(OsString)),
            )
            .arg(
                flag("prompts", "FILE.json", "Objects and prompts from a file")
                    .action(ArgAction::Set)
                    .value_parser(value_parser!(PathBuf)),
            )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ObjectArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut said: Vec<(usize, Said)> = Vec::new();
        collect(matches, "object", &mut said, |name: String| Said::Object(name));
        collect(matches, "class", &mut said, |class: String| Said::Class(class));
        collect(matches, "point", &mut said, |at| Said::Click(at, Label::Positive));
        collect(matches, "neg", &mut said, |at| Said::Click(at, Label::Negative));
        collect(matches, "box", &mut said, Said::Bounds);
        collect(matches, "mask", &mut said, |text: OsString| Said::Mask(prompt_text::mask(&text)));
        said.sort_by_key(|(place, _)| *place);
        let mut args = Self { objects: Vec::new(), file: matches.get_one::<PathBuf>("prompts").cloned() };
        let mut current = 0;
        for (_, said) in said {
            args.add(said, &mut current)
                .map_err(|message| Error::raw(ErrorKind::ValueValidation, message + "\n"))?;
        }
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Adds every value of flag `name` with its place on the command line.
fn collect<T: Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    name: &str,
    said: &mut Vec<(usize, Said)>,
    make: impl Fn(T) -> Said,
) {
    let places = matches.indices_of(name).into_iter().flatten();
    let values = matches.get_many::<T>(name).into_iter().flatten();
    said.extend(places.zip(values.map(|value| make(value.clone()))));
}

impl ObjectArgs {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.file.is_none()
    }

    fn add(&mut self, said: Said, current: &mut usize) -> Result<(), String> {
        if let Said::Object(name) = said {
            let known = self.objects.iter().position(|o| o.name == name);
            *current = known.unwrap_or(self.objects.len());
            if known.is_none() {
                self.objects.push(ObjectSpec { name, ..ObjectSpec::default() });
            }
            return Ok(());
        }
        if self.objects.is_empty() {
            self.objects.push(ObjectSpec { name: UNNAMED.into(), ..ObjectSpec::default() });
        }
        let object = &mut self.objects[*current];
        match said {
            Said::Object(_) => {}
            Said::Class(class) => object.class = class,
            Said::Click((at, frame), label) => {
                object.prompts.entry(frame).or_default().clicks.push(Click { at, label });
            }
            Said::Bounds((bounds, frame)) => {
                let prompts: &mut PromptSpec = object.prompts.entry(frame).or_default();
                if prompts.bounds.replace(bounds).is_some() {
                    return Err(format!("object {:?} has two boxes on frame {frame}: give one", object.name));
                }
            }
            Said::Mask((path, frame)) => {
                let prompts: &mut PromptSpec = object.prompts.entry(frame).or_default();
                if prompts.mask.replace(path).is_some() {
                    return Err(format!("object {:?} has two masks on frame {frame}: give one", object.name));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::FrameIndex;

    fn parse(line: &str) -> Result<ObjectArgs, Error> {
        let command = ObjectArgs::augment_args(clap::Command::new("t"));
        let matches = command.try_get_matches_from(std::iter::once("t").chain(line.split(' ')))?;
        ObjectArgs::from_arg_matches(&matches)
    }

    #[test]
    fn prompts_belong_to_the_object_before_them() {
        let args = parse(
            "--point 1,2 --object dog --class animal --neg 3,4@5 --box 0,0,9,9@5 --object cat --mask m@2x.png@7 \
             --object dog --point 5,6@5",
        )
        .expect("fits");
        let names: Vec<_> = args.objects.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["object", "dog", "cat"]);
        assert_eq!(args.objects[0].prompts[&FrameIndex(0)].clicks.len(), 1);
        let dog = &args.objects[1].prompts[&FrameIndex(5)];
        assert_eq!(args.objects[1].class, "animal");
        assert_eq!(
            dog.clicks.iter().map(|c| c.label).collect::<Vec<_>>(),
            [Label::Negative, Label::Positive]
        );
        assert!(dog.bounds.is_some());
        assert_eq!(args.objects[2].prompts[&FrameIndex(7)].mask, Some("m@2x.png".into()));
    }

    #[test]
    fn what_makes_no_sense_is_usage() {
        assert!(parse("--box 0,0,9,9 --box 1,1,9,9").is_err());
        assert!(parse("--mask a --mask b").is_err());
        assert!(parse("--point 1").is_err());
        assert!(parse("--point -3,-4").is_ok(), "outside, but the video says so");
    }
}
