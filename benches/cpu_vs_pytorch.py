#!/usr/bin/env python3
"""Masklet against the official PyTorch EdgeTAM on this processor: whole tracked frames in steady state, in turn (A B A B), f32.

    cargo build --release
    VENV/bin/python benches/cpu_vs_pytorch.py CHECKPOINT.pt [--masklet target/release/masklet] [--sizes 512 1024] [--threads 2]

Both follow one object through the demo clip. The first frames, until the memory is full, do not count. Prints a table and, as the
last line, JSON. tests/parity/official.py says how to make VENV; CHECKPOINT.pt is the official file.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM = 8  # frames until the memory holds seven


def official(checkpoint, folder, size, frames, threads):
    """Median milliseconds of a frame of the official code, in a process of its own."""
    job = [sys.executable, __file__, checkpoint, "--child", folder, str(size), str(frames), str(threads)]
    return float(subprocess.run(job, check=True, capture_output=True, text=True).stdout.split()[-1])


def child(checkpoint, folder, size, frames, threads):
    import torch
    torch.set_num_threads(threads)
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "parity"))
    from official import Frames, build, play

    class Unwatched:
        chosen = None
    model, pictures = build(checkpoint, size), Frames(folder, frames + WARM + 1, size)
    middle = [[pictures.width * 0.5, pictures.height * 0.5]]
    steps = [{"prompt": 0, "object": 1, "points": middle, "labels": [1]}, {"track": 0}]
    times, before = [], time.perf_counter()
    for what, *_ in play(model, Unwatched(), pictures, steps):
        now = time.perf_counter()
        if what == "track":
            times.append((now - before) * 1e3)
        before = now
    print(statistics.median(times[WARM + 1:]))


def masklet(binary, size, frames, threads):
    """Median milliseconds of a frame, the stages, and the peak memory of Masklet."""
    job = [binary, "bench", "--json", "--size", str(size), "--frames", str(frames), "--threads", str(threads)]
    done = subprocess.run(job, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in done.splitlines() if line.startswith("{")]
    report = next(line for line in reversed(lines) if "frame_ms" in json.dumps(line))
    return report if "frame_ms" in report else next(v for v in report.values() if isinstance(v, dict) and "frame_ms" in v)


def main():
    if "--child" in sys.argv:
        at = sys.argv.index("--child")
        folder, *numbers = sys.argv[at + 1:]
        return child(sys.argv[1], folder, *map(int, numbers))
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("checkpoint")
    ask.add_argument("--masklet", default="target/release/masklet")
    ask.add_argument("--sizes", type=int, nargs="+", default=[512, 1024])
    ask.add_argument("--threads", type=int, default=2)
    ask.add_argument("--frames", type=int, default=12)
    ask.add_argument("--rounds", type=int, default=2)
    options = ask.parse_args()
    found = {"threads": options.threads, "sizes": {}}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.masklet, "demo", "--frames-only", folder + "/clip"], check=True, capture_output=True)
        pictures = next(p.parent for p in sorted(Path(folder).rglob("*.png")) if "mask" not in str(p.parent.name))
        for size in options.sizes:
            theirs, ours, stages = [], [], None
            load = os.getloadavg()[0]
            for _ in range(options.rounds):
                theirs.append(official(options.checkpoint, str(pictures), size, options.frames, options.threads))
                report = masklet(options.masklet, size, options.frames, options.threads)
                ours.append(report["frame_ms"][0])
                stages = report["stages"]
            a, b = statistics.median(theirs), statistics.median(ours)
            found["sizes"][size] = {"pytorch_ms": theirs, "masklet_ms": ours, "times_faster": a / b, "load_before": load,
                                    "stages": stages}
            print(f"{size}: PyTorch {a:.0f} ms, Masklet {b:.0f} ms, {a / b:.2f} times faster (load before: {load:.1f})")
            for stage in stages:
                print(f"    {stage['stage']:16} {stage['mean_ms']:8.1f} ms")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
