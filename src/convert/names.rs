//! Owns the naming of the same tensors in the Hugging Face port.
//! May import: nothing outside this room.
//! Must not: read files.

use super::expected::TRUNK;

/// Where an official tensor is found in a Hugging Face file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HfSource {
    /// Under one name.
    Whole(String),
    /// Under two names, which must agree.
    Copies(String, String),
    /// As one row of a tensor.
    Row(String, usize),
    /// As two tensors, the first one's rows before the second one's.
    Stack(String, String),
}

/// Where the official tensor `name` is found in a Hugging Face file.
pub fn hugging_face_sources(name: &str) -> HfSource {
    let whole = |name: &str| HfSource::Whole(name.to_owned());
    match name {
        "maskmem_tpos_enc" => whole("memory_temporal_positional_encoding"),
        "no_mem_embed" => whole("no_memory_embedding"),
        "no_mem_pos_enc" => whole("no_memory_positional_encoding"),
        "no_obj_ptr" => whole("no_object_pointer"),
        "sam_prompt_encoder.pe_layer.positional_encoding_gaussian_matrix" => HfSource::Copies(
            "shared_image_embedding.positional_embedding".to_owned(),
            "prompt_encoder.shared_embedding.positional_embedding".to_owned(),
        ),
        _ => by_part(name),
    }
}

fn by_part(name: &str) -> HfSource {
    if let Some(rest) = name.strip_prefix(TRUNK) {
        return HfSource::Whole(format!("vision_encoder.backbone.timm_model{rest}"));
    }
    if let Some(rest) = name.strip_prefix("image_encoder.") {
        return HfSource::Whole(format!("vision_encoder.{}", rest.replace(".conv.", ".")));
    }
    if let Some(rest) = name.strip_prefix("sam_prompt_encoder.") {
        return prompt_encoder(rest);
    }
    if let Some(rest) = name.strip_prefix("sam_mask_decoder.") {
        return HfSource::Whole(format!("mask_decoder.{}", mask_decoder(rest)));
    }
    if let Some(rest) = name.strip_prefix("obj_ptr_proj.") {
        return HfSource::Whole(format!("object_pointer_proj.{}", mlp(rest)));
    }
    if let Some(rest) = name.strip_prefix("memory_attention.") {
        let rest = rest.replace("norm", "layer_norm").replace("out_proj", "o_proj");
        let rest = rest.replace("linear1", "mlp.up_proj").replace("linear2", "mlp.down_proj");
        return HfSource::Whole(format!("memory_attention.{rest}"));
    }
    if let Some(rest) = name.strip_prefix("memory_encoder.") {
        return HfSource::Whole(format!("memory_encoder.{}", memory_encoder(rest)));
    }
    if let Some(rest) = name.strip_prefix("spatial_perceiver.") {
        return perceiver(rest);
    }
    HfSource::Whole(name.to_owned())
}

fn prompt_encoder(rest: &str) -> HfSource {
    if let Some(label) =
        rest.strip_prefix("point_embeddings.").and_then(|label| label.strip_suffix(".weight"))
    {
        let row = label.parse().expect("the official list numbers the embeddings");
        return HfSource::Row("prompt_encoder.point_embed.weight".to_owned(), row);
    }
    let mut name = rest.to_owned();
    for (index, part) in
        [("0", "conv1"), ("1", "layer_norm1"), ("3", "conv2"), ("4", "layer_norm2"), ("6", "conv3")]
    {
        name = name.replace(&format!("mask_downscaling.{index}."), &format!("mask_embed.{part}."));
    }
    HfSource::Whole(format!("prompt_encoder.{name}"))
}

fn mask_decoder(rest: &str) -> String {
    if let Some(rest) = rest.strip_prefix("transformer.") {
        let rest =
            rest.replace(".mlp.layers.0.", ".mlp.proj_in.").replace(".mlp.layers.1.", ".mlp.proj_out.");
        return format!("transformer.{}", rest.replace("norm", "layer_norm").replace("out_proj", "o_proj"));
    }
    for (index, part) in [("0", "upscale_conv1"), ("1", "upscale_layer_norm"), ("3", "upscale_conv2")] {
        if let Some(rest) = rest.strip_prefix(&format!("output_upscaling.{index}.")) {
            return format!("{part}.{rest}");
        }
    }
    mlp(rest)
}

/// Three-layer perceptrons: the port names the first and the last and numbers those between.
fn mlp(rest: &str) -> String {
    for (index, part) in [("layers.0.", "proj_in."), ("layers.1.", "layers.0."), ("layers.2.", "proj_out.")] {
        if rest.contains(index) {
            return rest.replace(index, part);
        }
    }
    rest.to_owned()
}

fn memory_encoder(rest: &str) -> String {
    if let Some(rest) = rest.strip_prefix("mask_downsampler.encoder.") {
        let (index, part) = rest.split_once('.').expect("the official list numbers the layers");
        let index: usize = index.parse().expect("the official list numbers the layers");
        return match (index, index % 3) {
            (12, _) => format!("mask_downsampler.final_conv.{part}"),
            (_, 0) => format!("mask_downsampler.layers.{}.conv.{part}", index / 3),
            _ => format!("mask_downsampler.layers.{}.layer_norm.{part}", index / 3),
        };
    }
    let rest = rest.replace("pix_feat_proj", "feature_projection").replace("out_proj", "projection");
    let rest =
        rest.replace("fuser.", "memory_fuser.").replace("gamma", "scale").replace("norm", "layer_norm");
    rest.replace("dwconv", "depthwise_conv").replace("pwconv", "pointwise_conv")
}

fn perceiver(rest: &str) -> HfSource {
    let name = format!("spatial_perceiver.{rest}");
    if rest == "latents" {
        return HfSource::Whole("spatial_perceiver.latents_1d".to_owned());
    }
    if rest.starts_with("norm.") {
        return HfSource::Whole(name.replace("norm", "layer_norm"));
    }
    let mut name = name;
    for (official, port) in [
        (".attn.norm_x.", ".layer_norm_input."),
        (".attn.norm_latents.", ".layer_norm_latents."),
        (".self_attn.norm.", ".layer_norm_self."),
        (".self_attn.", ".self_attention."),
        (".attn.", ".cross_attention."),
        (".to_q.", ".q_proj."),
        (".to_out.", ".o_proj."),
        (".self_ff.", ".self_mlp."),
        (".ff.", ".mlp."),
        ("mlp.0.", "mlp.layer_norm."),
        ("mlp.1.", "mlp.up_proj."),
        ("mlp.3.", "mlp.down_proj."),
    ] {
        name = name.replace(official, port);
    }
    if name.contains(".to_kv.") {
        return HfSource::Stack(name.replace("to_kv", "k_proj"), name.replace("to_kv", "v_proj"));
    }
    HfSource::Whole(name)
}
