#!/usr/bin/env python3
"""Run the official image predictor on the first parity frame and store its answers (README.md says how to run this).

    make_pictures.py FRAMES MODEL.gguf [--size 512]

Writes goldens/pictures.json beside this script: for each prompt which mask the predictor answers with, its predicted IoU, the mask's run
lengths and 256 of its low-resolution logits (the predictor clamps them to -32..32).
"""
import argparse
import contextlib
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import official
from make_goldens import positions, rle, sha256
from unfold import write_checkpoint

HERE = Path(__file__).resolve().parent
PROMPTS = {
    "click": dict(points=[[150.0, 276.0]], labels=[1]),
    "click3": dict(points=[[226.0, 112.0], [250.0, 190.0], [148.0, 92.0]], labels=[1, 0, 1]),
    "box": dict(box=[521.0, 186.0, 600.0, 264.0]),
    "sky": dict(points=[[320.0, 20.0]], labels=[1]),
}


def build(checkpoint, size):
    """The official image predictor at `size`."""
    official.build(None, size)  # keeps timm away from the network
    from sam2.build_sam import build_sam2
    from sam2.sam2_image_predictor import SAM2ImagePredictor
    with contextlib.redirect_stdout(io.StringIO()):
        model = build_sam2("configs/edgetam.yaml", checkpoint, device="cpu", hydra_overrides_extra=[f"++model.image_size={size}"])
    predictor = SAM2ImagePredictor(model)
    predictor._bb_feat_sizes = [(size // s, size // s) for s in (4, 8, 16)]  # upstream fixes those of 1024
    return predictor


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("frames"), ap.add_argument("model"), ap.add_argument("--size", type=int, default=512)
    args = ap.parse_args()
    torch.set_num_threads(2)
    picture = np.asarray(Image.open(sorted(Path(args.frames).glob("*.png"))[0]).convert("RGB"))
    with tempfile.TemporaryDirectory() as scratch:
        write_checkpoint(args.model, f"{scratch}/model.pt")
        predictor = build(f"{scratch}/model.pt", args.size)
    predictor.set_image(picture)
    answers = []
    for name, prompt in PROMPTS.items():
        several = "box" not in prompt and len(prompt["points"]) == 1
        points = dict(point_coords=np.array(prompt["points"]), point_labels=np.array(prompt["labels"])) if "points" in prompt else {}
        box = dict(box=np.array(prompt["box"])) if "box" in prompt else {}
        masks, iou, low = predictor.predict(**points, **box, multimask_output=several)
        best = int(np.argmax(iou))
        flat = low[best].ravel()
        answers.append(dict(
            name=name, iou=float(iou[best]), mask=rle(masks[best] > 0).decode(), area=float((masks[best] > 0).mean()),
            logits=[float(v) for v in flat[positions(flat.size)]], **prompt))
        print(name, "best", best, "iou", iou, "area", answers[-1]["area"])
    target = HERE / "goldens" / "pictures.json"
    target.write_text(json.dumps(dict(size=args.size, model_sha256=sha256(args.model), answers=answers)) + "\n")


if __name__ == "__main__":
    main()
