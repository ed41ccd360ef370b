#!/usr/bin/env python3
"""Run the official PyTorch EdgeTAM on the parity frames and store what it answers, compactly (README.md says how to run this).

    make_goldens.py FRAMES SHIPPED.pt [RANDOM.pt] [--only NAME,NAME]

FRAMES holds the PNG frames that `cargo test --test parity -- --ignored write_frames` writes. RANDOM.pt comes from random_checkpoint.py
and is made on the fly when left out. Writes goldens/{shipped,random}-{512,1024}.safetensors beside this script.
"""
import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file

import official
from random_checkpoint import GOLDEN
from scenarios import POINT_FRAMES, SCENARIOS, ellipse

HERE = Path(__file__).resolve().parent
SAMPLES = 256
TEACH_FRAMES = {512: (1, 8), 1024: (1,)}  # memory attention is checked there with the reference's memories
TEACH_LOGITS = {512: (0, 1), 1024: (1,)}  # the memory encoder is checked there with the reference's masks


def positions(count):
    """Indices of the sample of a tensor with `count` elements: all when there are few, else SAMPLES pseudo-random ones."""
    if count <= SAMPLES:
        return np.arange(count)
    with np.errstate(over="ignore"):
        x = (np.arange(SAMPLES, dtype=np.uint64) + np.uint64(1)) * GOLDEN
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) % np.uint64(count)).astype(np.int64)


def digest(tensor):
    """mean, standard deviation (of the population), largest magnitude, then the sample, f32."""
    flat = tensor.detach().float().flatten().double().numpy()
    head = [flat.mean(), flat.std(), np.abs(flat).max()]
    return np.concatenate([head, flat[positions(flat.size)]]).astype(np.float32)


def rle(mask):
    """COCO's compressed run lengths of a boolean (H, W) array, as bytes."""
    flat = np.asarray(mask, bool).T.ravel()
    edges = np.flatnonzero(np.diff(flat)) + 1
    bounds = np.concatenate([[0], edges, [flat.size]])
    counts = np.diff(bounds).tolist()
    if flat[0]:
        counts.insert(0, 0)
    out = bytearray()
    for i, count in enumerate(counts):
        x = count - counts[i - 2] if i > 2 else count
        while True:
            c = x & 31
            x >>= 5
            more = x != -1 if c & 16 else x != 0
            out.append((c | (32 if more else 0)) + 48)
            if not more:
                break
    return bytes(out)


def bytes_tensor(data):
    return torch.from_numpy(np.frombuffer(data, np.uint8).copy())


def prepare(steps, frames, count):
    """The steps as the predictor wants them and as JSON; None when a prompt lies outside the first `count` frames."""
    if any(step.get("prompt", 0) >= count for step in steps):
        return None
    ready, told = [], []
    for step in steps:
        step = dict(step)
        if "ellipse" in step:
            step["mask"] = ellipse(step.pop("ellipse"), frames.width, frames.height)
            told.append({**step, "mask": rle(step["mask"]).decode()})
        else:
            told.append(dict(step))
        ready.append(step)
    return ready, told


def run(model, watch, frames, name, size, out, notes):
    """One scenario: fills `out` with tensors and returns what the metadata says of it."""
    count = len(frames.u8)
    ready, told = prepare(SCENARIOS[name], frames, count)
    chosen, areas, single, least_margin = {}, [], {}, 9.0
    watch.points = {}
    for what, frame, ids, masks, entry in official.play(model, watch, frames, ready):
        if watch.chosen is not None:
            for i, obj in enumerate(ids):
                chosen[frame, obj], single[frame, obj] = watch.chosen[i], watch.single
                least_margin = min(least_margin, watch.margin[i])
        if what == "prompt":
            continue
        logits, scores = entry["pred_masks"].float(), entry["object_score_logits"].float()
        for i, obj in enumerate(ids):
            mask = (masks[i, 0] > 0).numpy()
            area = float(mask.mean())
            areas.append((frame, obj, area))
            key = f"{name}/{frame:05}/{obj}"
            head = np.array([chosen.get((frame, obj), -1), float(scores[i]), area], np.float32)
            out[key] = torch.from_numpy(np.concatenate([head, digest(logits[i])]))
            out[key + "/rle"] = bytes_tensor(rle(mask))
        if frame in POINT_FRAMES.get(name, ()) and len(ids) == 1:
            for point, tensor in sorted(watch.points.items()):
                out[f"{name}/{frame:05}/point/{point}"] = torch.from_numpy(digest(tensor))
        if name == "click":
            teach(size, frame, entry, out)
        watch.points = {}
    absent = [(f, o) for f, o, a in areas if a == 0]
    partial = [a for _, _, a in areas if a > 0]
    notes.append(f"{name:9} area {min(partial, default=0):.4f}..{max(partial, default=0):.4f} absent {len(absent)} "
                 f"least IoU margin {least_margin:.4f} chosen {sorted(set(chosen.values()))} "
                 f"prompt {[(f, chosen.get((f, o)), 'single' if single.get((f, o)) else 'multi') for f, o in {(s['prompt'], s['object']) for s in told if 'prompt' in s}]}")
    print(notes[-1], flush=True)
    return {"name": name, "steps": told}


def teach(size, frame, entry, out):
    """What the teacher-forced checks feed: stored memories and pointers, and the mask logits of a few frames."""
    last = max(TEACH_FRAMES[size])
    if frame >= last and frame not in TEACH_LOGITS[size]:
        return
    if frame < last:
        out[f"teach/pointer/{frame:05}"] = entry["obj_ptr"][0].float().clone()
        near = any(frame == 0 or 1 <= t - frame <= 6 for t in TEACH_FRAMES[size] if frame < t)
        if near and (frame == 0 or frame >= last - 6):
            out[f"teach/memory/{frame:05}"] = entry["maskmem_features"][0].to(torch.bfloat16).clone()
    if frame in TEACH_LOGITS[size]:
        out[f"teach/logits/{frame:05}"] = entry["pred_masks"][0, 0].float().clone()


def hashes(arrays):
    return [hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() for a in arrays]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("frames"), ap.add_argument("shipped"), ap.add_argument("random", nargs="?")
    ap.add_argument("--only", default="", help="e.g. shipped-512,random-1024")
    ap.add_argument("--out", default=str(HERE / "goldens")), ap.add_argument("--threads", type=int, default=2)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    only = set(filter(None, args.only.split(",")))
    with tempfile.TemporaryDirectory() as scratch:
        if args.random is None and (not only or any(n.startswith("random") for n in only)):
            args.random = f"{scratch}/random.pt"
            subprocess.run([sys.executable, HERE / "random_checkpoint.py", args.random], check=True)
        for weights in ("shipped", "random"):
            for size, count, names in ((512, 24, list(SCENARIOS)), (1024, 8, ["click"])):
                if only and f"{weights}-{size}" not in only:
                    continue
                print(f"== {weights}-{size}", flush=True)
                from PIL import Image
                paths = sorted(Path(args.frames).glob("*.png"))[:count]
                frames = official.Frames(args.frames, count, size)
                model = official.build(getattr(args, weights), size)
                watch, out, notes = official.Watch(model), {}, []
                told = [run(model, watch, frames, name, size, out, notes) for name in names]
                meta = dict(
                    scenarios=json.dumps(told), size=str(size), frames=str(count), width=str(frames.width), height=str(frames.height),
                    frames_sha256=json.dumps(hashes(np.asarray(Image.open(p).convert("RGB")) for p in paths)),
                    resized_sha256=json.dumps(hashes(frames.u8)),
                    checkpoint_sha256=hashlib.sha256(Path(getattr(args, weights)).read_bytes()).hexdigest() if weights == "shipped" else "",
                    made_with=json.dumps({m: __import__(m).__version__ for m in ("torch", "timm", "torchvision", "PIL")}))
                Path(args.out).mkdir(exist_ok=True)
                target = Path(args.out) / f"{weights}-{size}.safetensors"
                save_file(out, target, metadata=meta)
                print(f"{len(out)} tensors, {target.stat().st_size} bytes -> {target.name}", flush=True)


if __name__ == "__main__":
    main()
