#!/usr/bin/env python3
"""Masklet against the official PyTorch EdgeTAM on this graphics card: whole tracked frames in steady state, in turn.

    VENV/bin/python benches/gpu_vs_pytorch.py [CHECKPOINT.pt] [--masklet target/release/masklet] [--sizes 512 1024] [--modes tf32 bf16 compile]

Both follow one object through the demo clip; the frames until the memory is full and the caches are warm do not count. The
official code is timed from normalised pixels on the card to the logits on the host, Masklet from the picture to the logits,
which is more. Without CHECKPOINT.pt the official code runs with random weights: the time is the same. Prints a table and, as
the last line, JSON. tests/parity/official.py says how to make VENV.
"""
import argparse
import contextlib
import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM = 12  # frames until the memory holds seven and the caches are warm


def official(options, folder, size, mode):
    """Median milliseconds of a frame of the official code, in a process of its own; why there is none, otherwise."""
    job = [sys.executable, __file__, options.checkpoint or "-", "--child", folder, str(size), str(options.frames), mode]
    try:
        done = subprocess.run(job, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return f"no answer within {options.limit} s"
    return float(done.stdout.split()[-1]) if done.returncode == 0 else done.stderr.strip().splitlines()[-1][:200]


def child(checkpoint, folder, size, frames, mode):
    import torch
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "parity"))
    from official import Frames, build
    import sam2.sam2_video_predictor as module
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    pictures = Frames(folder, frames + WARM + 1, size)
    model = build(None if checkpoint == "-" else checkpoint, size).to("cuda").eval()
    if mode == "compile":
        for owner, name in ((model.image_encoder, "forward"), (model.memory_attention, "forward"),
                            (model.sam_mask_decoder, "forward"), (model.memory_encoder, "forward")):
            setattr(owner, name, torch.compile(getattr(owner, name), mode="max-autotune-no-cudagraphs", dynamic=False))
    pixels = pictures.pixels.to("cuda")
    module.load_video_frames = lambda **kw: (pixels, pictures.height, pictures.width)
    context = torch.autocast("cuda", dtype=torch.bfloat16) if mode == "bf16" else contextlib.nullcontext()
    times = []
    with torch.inference_mode(), context, contextlib.redirect_stderr(io.StringIO()):
        state = model.init_state("frames")
        model.add_new_points_or_box(inference_state=state, frame_idx=0, obj_id=1,
                                    points=[[pictures.width * 0.5, pictures.height * 0.5]], labels=[1])
        before = time.perf_counter()
        for frame, _, _ in model.propagate_in_video(state, start_frame_idx=0):
            stored = state["output_dict"]
            entry = stored["cond_frame_outputs"].get(frame) or stored["non_cond_frame_outputs"][frame]
            entry["pred_masks"].cpu()
            torch.cuda.synchronize()
            now = time.perf_counter()
            times.append((now - before) * 1e3)
            before = now
    print(statistics.median(times[WARM + 1:]))


def masklet(options, size, *more):
    """The report of `masklet bench`."""
    job = [options.masklet, "bench", "--json", "--device", options.device, "--size", str(size), "--frames", str(options.frames * 3)]
    done = subprocess.run([*job, *more], check=True, capture_output=True, text=True).stdout
    return json.loads(done.splitlines()[-1])


def engine_ms(report):
    """Milliseconds of a frame without decoding and without bringing the mask to the picture's size."""
    return sum(s["mean_ms"] * s["runs"] for s in report["stages"] if s["stage"] not in ("decode", "masks")) / report["frames"]


def main():
    if "--child" in sys.argv:
        at = sys.argv.index("--child")
        folder, size, frames, mode = sys.argv[at + 1:]
        return child(sys.argv[1], folder, int(size), int(frames), mode)
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("checkpoint", nargs="?")
    ask.add_argument("--masklet", default="target/release/masklet")
    ask.add_argument("--device", default="cuda")
    ask.add_argument("--sizes", type=int, nargs="+", default=[512, 1024])
    ask.add_argument("--modes", nargs="+", default=["tf32", "bf16", "compile"])
    ask.add_argument("--frames", type=int, default=24)
    ask.add_argument("--limit", type=int, default=240, help="seconds that a run of the official code may take")
    options = ask.parse_args()
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.masklet, "demo", "--frames-only", folder + "/clip"], check=True, capture_output=True)
        pictures = next(p.parent for p in sorted(Path(folder).rglob("*.png")) if "mask" not in str(p.parent.name))
        for size in options.sizes:
            ours = [masklet(options, size)]
            theirs = {mode: official(options, str(pictures), size, mode) for mode in options.modes}
            ours.append(masklet(options, size))
            times = [engine_ms(report) for report in ours]
            found[size] = {"pytorch_ms": theirs, "masklet_ms": times, "report": ours[-1]}
            print(f"{size}: Masklet {times[0]:.2f} and {times[1]:.2f} ms on {ours[-1]['engine']['device']}")
            for mode, ms in theirs.items():
                times_faster = f"{ms / statistics.mean(times):.2f} times" if isinstance(ms, float) else ""
                print(f"    PyTorch {mode:8} {ms if isinstance(ms, str) else f'{ms:.2f} ms'} {times_faster}")
            for stage in ours[-1]["stages"]:
                print(f"    {stage['stage']:16} {stage['mean_ms']:8.2f} ms")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
