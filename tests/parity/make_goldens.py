#!/usr/bin/env python3
"""Run the official PyTorch EdgeTAM on the parity frames and store what it answers, compactly (README.md says how to run this).

    make_goldens.py FRAMES MODEL.gguf [--source WEIGHTS.pt] [--random RANDOM.pt] [--only NAME,NAME]

FRAMES holds the PNG frames that `cargo test --test parity -- --ignored write_frames` writes. MODEL.gguf is the built-in model: the official
code runs on exactly its numbers (unfold.py). WEIGHTS.pt is the checkpoint that it was converted from, for the golden of what storing in f16
costs (or an f32 model file made of it). RANDOM.pt comes from random_checkpoint.py and is made on the fly when left out. Writes goldens/*.safetensors beside this script.
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
from PIL import Image
from safetensors.torch import save_file

import official
from random_checkpoint import GOLDEN
from scenarios import POINT_FRAMES, SCENARIOS, SCENARIOS_1024, WHOLE_MASKS, ellipse
from unfold import write_checkpoint

HERE = Path(__file__).resolve().parent
SAMPLES = 256
MASK_SAMPLES = 8192
TEACH_FRAMES = {512: (1, 8), 1024: (1,)}  # memory attention is checked there with the reference's memories
TEACH_LOGITS = {512: (0, 1), 1024: (1,)}  # the memory encoder is checked there with the reference's masks


def positions(count, samples=SAMPLES):
    """Indices of the sample of a tensor with `count` elements: all when there are few, else `samples` pseudo-random ones."""
    if count <= samples:
        return np.arange(count)
    with np.errstate(over="ignore"):
        x = (np.arange(samples, dtype=np.uint64) + np.uint64(1)) * GOLDEN
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


def prepare(steps, frames):
    """The steps as the predictor wants them and as JSON."""
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


def run(model, watch, frames, name, steps, kind, size, out):
    """One scenario: fills `out` with tensors and returns what the metadata says of it."""
    ready, told = prepare(steps, frames)
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
            if kind != "random" or frame in WHOLE_MASKS:
                out[key + "/rle"] = bytes_tensor(rle(mask))
            else:
                bits = np.packbits(mask.ravel()[positions(mask.size, MASK_SAMPLES)], bitorder="little")
                out[key + "/bits"] = bytes_tensor(bits.tobytes())
        if kind == "source":
            continue
        if frame in POINT_FRAMES.get(name, ()) and len(ids) == 1:
            for point, tensor in sorted(watch.points.items()):
                out[f"{name}/{frame:05}/point/{point}"] = torch.from_numpy(digest(tensor))
        if name == "click":
            teach(size, frame, entry, out)
        watch.points = {}
    partial = [a for _, _, a in areas if a > 0]
    print(f"{name:9} area {min(partial, default=0):.4f}..{max(partial, default=0):.4f}, absent {len(areas) - len(partial)}, least IoU margin "
          f"{least_margin:.4f}, chosen {sorted(set(chosen.values()))}, prompts "
          f"{[(s['prompt'], chosen.get((s['prompt'], s['object'])), single.get((s['prompt'], s['object']))) for s in told if 'prompt' in s]}", flush=True)
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


def sha256(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("frames"), ap.add_argument("model"), ap.add_argument("--source"), ap.add_argument("--random")
    ap.add_argument("--only", default="", help="e.g. shipped-512,random-1024")
    ap.add_argument("--out", default=str(HERE / "goldens")), ap.add_argument("--threads", type=int, default=2)
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    small = {name: SCENARIOS[name] for name in ("click", "box")}
    jobs = {"shipped-512": (24, SCENARIOS), "shipped-1024": (8, SCENARIOS_1024), "random-512": (24, SCENARIOS),
            "random-1024": (8, SCENARIOS_1024), "source-512": (24, small)}
    wanted = args.only.split(",") if args.only else [n for n in jobs if args.source or not n.startswith("source")]
    with tempfile.TemporaryDirectory() as scratch:
        checkpoints = {"shipped": f"{scratch}/shipped.pt", "random": args.random or f"{scratch}/random.pt", "source": args.source}
        if any(n.startswith("shipped") for n in wanted):
            write_checkpoint(args.model, checkpoints["shipped"])
        if args.source and args.source.endswith(".gguf"):
            checkpoints["source"] = f"{scratch}/source.pt"
            write_checkpoint(args.source, checkpoints["source"])
        if not args.random and any(n.startswith("random") for n in wanted):
            subprocess.run([sys.executable, HERE / "random_checkpoint.py", checkpoints["random"]], check=True)
        for job in wanted:
            print(f"== {job}", flush=True)
            (kind, size), (count, scenarios) = job.split("-"), jobs[job]
            size = int(size)
            paths = sorted(Path(args.frames).glob("*.png"))[:count]
            frames = official.Frames(args.frames, count, size)
            model = official.build(checkpoints[kind], size)
            watch, out = official.Watch(model), {}
            told = [run(model, watch, frames, name, steps, kind, size, out) for name, steps in scenarios.items()]
            meta = dict(
                scenarios=json.dumps(told), size=str(size), frames=str(count), width=str(frames.width), height=str(frames.height),
                frames_sha256=json.dumps(hashes(np.asarray(Image.open(p).convert("RGB")) for p in paths)),
                resized_sha256=json.dumps(hashes(frames.u8)), model_sha256=sha256(args.model) if kind == "shipped" else "",
                made_with=json.dumps({m: __import__(m).__version__ for m in ("torch", "timm", "torchvision", "PIL")}))
            Path(args.out).mkdir(exist_ok=True)
            target = Path(args.out) / f"{job}.safetensors"
            save_file(out, target, metadata=meta)
            print(f"{len(out)} tensors, {target.stat().st_size} bytes -> {target.name}", flush=True)


if __name__ == "__main__":
    main()
