"""The official PyTorch EdgeTAM predictor, made repeatable: built without a network, fed with PNG frames, watched at named points.

Shared by make_goldens.py, run_full.py and random_checkpoint.py. Everything runs on the CPU in f32. Set-up:
    python3 -m venv VENV && VENV/bin/pip install edgetam-dimos torch torchvision timm hydra-core iopath safetensors numpy pillow
"""
import contextlib
import io
import warnings
from pathlib import Path

import numpy as np
import torch

warnings.filterwarnings("ignore")
torch.set_grad_enabled(False)

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def build(checkpoint, size):
    """The official video predictor at `size`; `checkpoint` None leaves PyTorch's own initial weights."""
    import timm
    import sam2.modeling.backbones.timm as backbone
    from sam2.build_sam import build_sam2_video_predictor
    # the official code asks timm for pretrained weights, which the checkpoint replaces anyway
    backbone.create_model = lambda name, pretrained=False, **kw: timm.create_model(name, pretrained=False, **kw)
    side = size // 16
    with contextlib.redirect_stdout(io.StringIO()):
        model = build_sam2_video_predictor("configs/edgetam.yaml", checkpoint, device="cpu", hydra_overrides_extra=[
            f"++model.image_size={size}",
            f"++model.memory_attention.layer.self_attention.feat_sizes=[{side},{side}]",
            f"++model.memory_attention.layer.cross_attention.q_sizes=[{side},{side}]",
        ])
    model.fill_hole_area = 0  # holes are filled only where the CUDA extension is; parity runs have none
    # More than one object crashes upstream: forward_2d views an expanded tensor. One object at a time gives the same numbers.
    perceiver = model.spatial_perceiver
    alone = perceiver.forward

    def one_by_one(x, pos=None):
        parts = [alone(x[i:i + 1], None if pos is None else pos[i:i + 1]) for i in range(x.shape[0])]
        return torch.cat([p[0] for p in parts]), None if pos is None else torch.cat([p[1] for p in parts])
    perceiver.forward = one_by_one
    return model


class Frames:
    """PNG frames of a folder: `u8` (n, S, S, 3) as resized by Pillow, `pixels` (n, 3, S, S) normalised, picture `width`, `height`."""

    def __init__(self, folder, count, size):
        from PIL import Image
        paths = sorted(Path(folder).glob("*.png"))[:count]
        if len(paths) < count:
            raise SystemExit(f"{folder}: {len(paths)} PNG frames, {count} wanted")
        pictures = [Image.open(p).convert("RGB") for p in paths]
        self.width, self.height = pictures[0].size
        self.u8 = np.stack([np.asarray(p.resize((size, size))) for p in pictures])
        mean, std = (torch.tensor(v)[:, None, None] for v in (MEAN, STD))
        self.pixels = (torch.from_numpy(self.u8).permute(0, 3, 1, 2).float() / 255 - mean) / std


class Watch:
    """Hooks on the network. `points[name]` is the latest value of each point; `chosen` the latest choice of mask.

    `chosen` is, for each object of the call, 0..3 (which of the decoder's four masks became the output); `single` says whether the
    caller wanted one mask (the stability rule) or the best of three.
    """

    def __init__(self, model):
        self.points, self.chosen, self.single, self.margin = {}, None, None, None
        body, decoder, prompts = model.image_encoder.trunk.body, model.sam_mask_decoder, model.sam_prompt_encoder
        first = model.memory_attention.layers[0]
        self._after(body.stem, "stem")
        for i in range(4):
            self._after(getattr(body, f"stages_{i}"), f"stage{i}")
        self._after(model.image_encoder, "fpn2", lambda o: o["backbone_fpn"][2])
        self._after(decoder.conv_s0, "conv_s0")
        self._after(decoder.conv_s1, "conv_s1")
        self._after(prompts, "sparse", lambda o: o[0])
        self._after(decoder.transformer.layers[0], "twoway0_keys", lambda o: o[1])
        self._after(decoder.transformer, "twoway_hs", lambda o: o[0])
        self._after(model.obj_ptr_proj, "obj_ptr")
        self._after(model.memory_encoder.mask_downsampler, "mask_ds")
        self._after(model.memory_encoder, "memenc", lambda o: o["vision_features"])
        self._after(first.self_attn, "ma0_self")
        self._after(first.cross_attn_image, "ma0_cross")
        self._after(model.memory_attention, "memattn")
        perceive, dense_pe, predict, decode = (
            model.spatial_perceiver.forward, prompts.get_dense_pe, decoder.predict_masks, decoder.forward)

        def perceiver(x, pos=None):
            out = perceive(x, pos)
            self.keep("perceiver", out[0])
            return out

        def get_dense_pe():
            out = dense_pe()
            self.keep("dense_pe", out)
            return out

        def predict_masks(**kw):
            out = predict(**kw)
            for name, i in (("mask_logits4", 0), ("iou4", 1), ("obj_score", 3)):
                self.keep(name, out[i])
            return out

        def forward(**kw):
            out = decode(**kw)
            four, iou = self.points["mask_logits4"], self.points["iou4"]
            self.single = not kw["multimask_output"]
            best = 1 + iou[:, 1:].argmax(dim=1)
            top = iou[:, 1:].sort(dim=1, descending=True).values
            self.margin = (top[:, 0] - top[:, 1]).tolist()
            if self.single:
                stable = torch.tensor([bool(torch.equal(o[0], f[0])) for o, f in zip(out[0], four)])
                best = torch.where(stable, torch.zeros_like(best), best)
            self.chosen = best.tolist()
            return out
        model.spatial_perceiver.forward, prompts.get_dense_pe = perceiver, get_dense_pe
        decoder.predict_masks, decoder.forward = predict_masks, forward

    def keep(self, name, tensor):
        """Remember `tensor` as the latest value of the point `name`."""
        self.points[name] = tensor.detach().float().clone().contiguous()

    def _after(self, module, name, pick=lambda out: out):
        module.register_forward_hook(lambda _m, _i, out: self.keep(name, pick(out)))


def play(model, watch, frames, steps):
    """Run `steps` on `frames`; yield (what, frame, watch, output) after each prompt and each tracked frame.

    A step is {"prompt": frame, "object": id, "points", "labels", "box"} in picture pixels, or "mask": a boolean (H, W) array; or
    {"track": first frame, "reverse": bool}. `output` is the stored entry of the frame (logits, score, pointer, memory) when tracked.
    """
    import sam2.sam2_video_predictor as module
    module.load_video_frames = lambda **kw: (frames.pixels, frames.height, frames.width)
    state = model.init_state("frames")
    for step in steps:
        if "track" in step:
            walk = model.propagate_in_video(state, start_frame_idx=step["track"], reverse=step.get("reverse", False))
            with contextlib.redirect_stderr(io.StringIO()):
                watch.chosen = None
                for frame, ids, masks in walk:
                    stored = state["output_dict"]
                    entry = stored["cond_frame_outputs"].get(frame) or stored["non_cond_frame_outputs"][frame]
                    yield "track", frame, ids, masks, entry
                    watch.chosen = None
        else:
            common = dict(inference_state=state, frame_idx=step["prompt"], obj_id=step["object"])
            watch.chosen = None
            if "mask" in step:
                model.add_new_mask(**common, mask=torch.from_numpy(step["mask"]))
                watch.chosen = None  # the decoder ran for the pointer only
            else:
                model.add_new_points_or_box(**common, **{k: step[k] for k in ("points", "labels", "box") if k in step})
            yield "prompt", step["prompt"], [step["object"]], None, None
