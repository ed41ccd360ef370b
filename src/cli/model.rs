//! The subcommands about model files: `model convert`, `model info`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::exit::Exit;
use super::out::Out;
use crate::convert::{self, ConvertError, ConvertOptions, WeightType};

#[derive(Debug, Subcommand)]
pub(super) enum ModelTask {
    /// Turn a published EdgeTAM checkpoint into a model file
    Convert(ConvertArgs),
    /// Say what is in a model file
    Info(ModelInfoArgs),
}

#[derive(Debug, Args)]
pub(super) struct ConvertArgs {
    /// The official checkpoint (.pt) or the Hugging Face safetensors
    pub input: PathBuf,
    /// The model file to write
    #[arg(short = 'o', long = "output", value_name = "OUT.gguf")]
    pub output: PathBuf,
    /// How the large weights are stored: f32, f16, q8_0
    #[arg(long = "type", value_name = "TYPE", default_value_t = WeightType::F16)]
    pub kind: WeightType,
    /// Side of the pictures that the weights were trained on, in pixels
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = super::args::side)]
    pub native_size: u32,
    /// What the model calls itself
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ModelInfoArgs {
    /// A model file (GGUF)
    pub file: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// `masklet model ...`.
pub(super) fn model(task: ModelTask, out: &mut Out) -> Exit {
    match task {
        ModelTask::Convert(args) => convert(args, out),
        ModelTask::Info(args) => info(args, out),
    }
}

fn convert(args: ConvertArgs, out: &mut Out) -> Exit {
    let mut options =
        ConvertOptions { weights: args.kind, native_size: args.native_size, ..ConvertOptions::default() };
    if let Some(name) = args.name {
        options.name = name;
    }
    let summary = match convert::convert(&args.input, &args.output, &options) {
        Ok(summary) => summary,
        Err(error) => {
            let exit = match error {
                ConvertError::Write { .. } | ConvertError::Output(_) | ConvertError::Verify { .. } => {
                    Exit::Output
                }
                ConvertError::SameFile { .. } | ConvertError::NativeSize { .. } => Exit::Usage,
                _ => Exit::Device,
            };
            return failed(&error.to_string(), exit, args.json, out);
        }
    };
    if args.json {
        out.json(&summary);
    } else {
        out.text(&format!("read {} ({})", args.input.display(), summary.source));
        out.text(&format!(
            "wrote {}: {} tensors, {} weights, {}, {} bytes, sha256 {}",
            summary.output.display(),
            summary.tensors,
            summary.parameters,
            summary.weights,
            summary.bytes,
            summary.sha256
        ));
    }
    Exit::Done
}

fn info(args: ModelInfoArgs, out: &mut Out) -> Exit {
    match convert::describe(&args.file) {
        Ok(info) if args.json => out.json(&info),
        Ok(info) => out.text(info.to_string().trim_end()),
        Err(error) => return failed(&error.to_string(), Exit::Device, args.json, out),
    }
    Exit::Done
}

fn failed(message: &str, exit: Exit, json: bool, out: &mut Out) -> Exit {
    if json {
        out.json(&json!({"event": "failed", "kind": exit.word(), "message": message}));
    }
    out.error(message);
    exit
}
