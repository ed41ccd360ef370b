#!/usr/bin/env python3
"""The complete comparison with the official code: every logit and every point whole, at 512 and at 1024, in f32, f16 and q8_0.

    run_full.py WEIGHTS.pt [--sizes 512,1024] [--types f32,f16,q8_0] [--scenarios NAMES] [--frames 24] [--weights given,random]

WEIGHTS.pt is an official checkpoint (the one that the built-in model was converted from); the random checkpoint is compared too, in f32. Takes
hours on two cores. Ends with exit code 1 when anything is outside the gates, which are those of tests/parity.rs.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file

import official
from make_goldens import prepare
from scenarios import SCENARIOS

ROOT = Path(__file__).resolve().parents[2]
POINT_FRAMES = (0, 1, 3)
PLANAR = ("stem", "stage0", "stage1", "stage2", "stage3", "fpn2", "conv_s0", "conv_s1", "mask_ds", "memenc")


def cargo(profile, command, *args, **env):
    flags = [command, "--locked", "--quiet", "--profile", profile]
    subprocess.run(["cargo", *flags, *args], cwd=ROOT, check=True, env={**os.environ, **env}, stdout=subprocess.DEVNULL)


def test(profile, name, **env):
    cargo(profile, "test", "--test", "parity", "--", "--ignored", "--exact", name, **env)


def reference(model, watch, frames, name):
    """{(frame, object): (chosen, score, logits)} and {frame: points} of the official code."""
    ready, _ = prepare(SCENARIOS[name], frames)
    answers, points, chosen = {}, {}, {}
    watch.points = {}
    for what, frame, ids, masks, entry in official.play(model, watch, frames, ready):
        if watch.chosen is not None:
            chosen.update({(frame, obj): watch.chosen[i] for i, obj in enumerate(ids)})
        if what == "track":
            for i, obj in enumerate(ids):
                answers[frame, obj] = (chosen.get((frame, obj), -1), float(entry["object_score_logits"][i]), entry["pred_masks"][i, 0].float().numpy())
            if name == "click" and frame in POINT_FRAMES:
                points[frame] = {k: v.numpy() for k, v in watch.points.items()}
            watch.points = {}
    return answers, points


def mask(logits, frames):
    big = torch.nn.functional.interpolate(torch.from_numpy(np.ascontiguousarray(logits))[None, None], (frames.height, frames.width), mode="bilinear", align_corners=False)
    return (big[0, 0] > 0).numpy()


def point_gate(name, frame):
    if frame == 0:
        return 5e-5 if name == "mask_ds" else 1e-5
    return 1e-5 if name in PLANAR[:8] or name == "sparse" else 2e-4


def compare(label, kind, dump, answers, points, frames):
    """Faults of one scenario against the gates, and one line of figures."""
    own = load_file(dump)
    faults, worst, ious, flipped, points_worst = [], 0.0, [], 0, (0.0, "")
    for (frame, obj), (chosen, score, logits) in answers.items():
        at = f"{label}, frame {frame}, object {obj}"
        values = own[f"{frame:05}/{obj}"]
        mine = values[2:].reshape(logits.shape)
        far = max(float(np.abs(mine - logits).max()), abs(float(values[1]) - score))
        a, b = mask(mine, frames), mask(logits, frames)
        union = (a | b).sum()
        ious.append(float((a & b).sum() / union) if union else 1.0)
        worst, flipped = max(worst, far), max(flipped, int((a != b).sum()))
        if kind == "f32":
            if chosen >= 0 and int(values[0]) != chosen:
                faults.append(f"{at}: mask {int(values[0])} was chosen, not {chosen}")
            if not far <= 5e-3:
                faults.append(f"{at}: logits or score differ by {far:.2e}")
        least = {"f32": 0.999, "f16": 0.99, "q8_0": 0.95}[kind]
        if not ious[-1] >= least:
            faults.append(f"{at}: mask IoU {ious[-1]:.5f}")
    if kind == "q8_0" and not np.mean(ious) >= 0.98:
        faults.append(f"{label}: mean IoU {np.mean(ious):.5f}")
    for frame, named in points.items():
        for name, value in named.items():
            mine = own.get(f"{frame:05}/point/{name}")
            if mine is None or kind != "f32":
                continue
            if name in PLANAR:
                mine = mine.reshape(*value.shape[2:], value.shape[1]).transpose(2, 0, 1)
            scale = float(np.abs(value).max()) if value.size < 8 else float(value.std())
            far = float(np.sqrt(np.square(mine.ravel() - value.ravel()).mean())) / scale
            points_worst = max(points_worst, (far, f"{name} on frame {frame}"))
            if not far <= point_gate(name, frame):
                faults.append(f"{label}, frame {frame}: {name} is {far:.1e} deviations away")
    print(f"{label}: logits within {worst:.1e}, IoU mean {np.mean(ious):.5f} least {min(ious):.5f}, at most {flipped} pixels, points {points_worst[0]:.1e} {points_worst[1]}"
          f"{'' if not faults else f', {len(faults)} FAULTS'}", flush=True)
    return faults


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("weights_file"), ap.add_argument("--sizes", default="512,1024"), ap.add_argument("--types", default="f32,f16,q8_0")
    ap.add_argument("--scenarios", default=",".join(SCENARIOS)), ap.add_argument("--frames", type=int, default=24)
    ap.add_argument("--weights", default="given,random"), ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--profile", default="release", help="cargo's profile, e.g. dev")
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    names, faults = args.scenarios.split(","), []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        test(args.profile, "write_frames", PARITY_FRAMES=str(scratch / "frames"))
        checkpoints = {"given": Path(args.weights_file).resolve(), "random": scratch / "random.pt"}
        if "random" in args.weights:
            subprocess.run([sys.executable, ROOT / "tests/parity/random_checkpoint.py", checkpoints["random"]], check=True)
        for weights in args.weights.split(","):
            types = args.types.split(",") if weights == "given" else ["f32"]
            for kind in types:
                cargo(args.profile, "run", "--", "model", "convert", str(checkpoints[weights]), "-o", str(scratch / f"{weights}-{kind}.gguf"), "--type", kind)
            for size in map(int, args.sizes.split(",")):
                frames = official.Frames(scratch / "frames", args.frames, size)
                for kind in types:
                    test(args.profile, "write_answers", PARITY_MODEL=str(scratch / f"{weights}-{kind}.gguf"), PARITY_SIDE=str(size),
                         PARITY_OUT=str(scratch / f"{weights}-{kind}-{size}"), PARITY_SCENARIOS=args.scenarios,
                         PARITY_FRAMES_COUNT=str(args.frames), PARITY_POINTS=",".join(map(str, POINT_FRAMES)))
                model = official.build(str(checkpoints[weights]), size)
                watch = official.Watch(model)
                for name in names:
                    answers, points = reference(model, watch, frames, name)
                    for kind in types:
                        dump = scratch / f"{weights}-{kind}-{size}" / f"{name}.safetensors"
                        faults += compare(f"{weights} {kind} {size} {name}", kind, dump, answers, points, frames)
    print(f"{len(faults)} faults", *faults[:40], sep="\n")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
