"""Reads every export with the code of those who consume it and compares with the exact masks.

`./dev test-formats` writes the exports and calls this with their folder. A reader that is not installed is said and
counted, never passed over in silence.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

OUT = Path(sys.argv[1])
PLAIN = OUT / "plain"
TRUTH = json.loads((OUT / "truth.json").read_text())
WIDTH, HEIGHT = TRUTH["width"], TRUTH["height"]
OBJECTS = TRUTH["objects"]
# Frame, object, row, column.
MASKS = np.array(
    [[np.frombuffer(text.encode(), np.uint8) - 48 for text in frame] for frame in TRUTH["masks"]]
).reshape(len(TRUTH["masks"]), len(OBJECTS), HEIGHT, WIDTH)
FRAMES = len(MASKS)
CLASSES = list(dict.fromkeys(o["class"] for o in OBJECTS))


def labels(frame):
    """Object numbers, the first of the list where masks overlap."""
    found = np.zeros((HEIGHT, WIDTH), np.int64)
    for number in range(len(OBJECTS), 0, -1):
        found[MASKS[frame, number - 1] == 1] = number
    return found


def box(mask):
    rows, columns = np.where(mask)
    return [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1]


def same(found, wanted, what):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape} instead of {wanted.shape}"
    assert (found == wanted).all(), f"{what}: {(found != wanted).sum()} values differ"


def visible():
    return [(f, o) for f in range(FRAMES) for o in range(len(OBJECTS)) if MASKS[f, o].any()]


def coco_with_pycocotools():
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    for form in ["plain", "counts", "polygons"]:
        coco = COCO(str(OUT / form / "coco.json"))
        annotations = coco.loadAnns(coco.getAnnIds())
        assert len(annotations) == len(visible())
        assert sorted(a["id"] for a in annotations) == list(range(1, len(annotations) + 1))
        for a in annotations:
            image = coco.imgs[a["image_id"]]
            mask = MASKS[image["frame_index"], a["track_id"] - 1]
            same(coco.annToMask(a), mask, f"{form} annotation {a['id']}")
            assert a["area"] == mask.sum() and a["bbox"] == box(mask), a["id"]
            assert coco.cats[a["category_id"]]["name"] == OBJECTS[a["track_id"] - 1]["class"]
            assert a["iscrowd"] == 0
        results = [
            {"image_id": a["image_id"], "category_id": a["category_id"], "segmentation": coco.annToRLE(a), "score": 1.0}
            for a in annotations
        ]
        evaluation = COCOeval(coco, coco.loadRes(results), "segm")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        assert evaluation.stats[0] == 1.0, evaluation.stats


def pictures_with_pillow():
    from PIL import Image

    for frame in range(FRAMES):
        indexed = Image.open(PLAIN / f"masks/{frame:05}.png")
        assert indexed.mode == "P" and np.asarray(indexed).ndim == 2
        assert indexed.getpalette()[:9] == [0, 0, 0, 128, 0, 0, 0, 128, 0]
        same(indexed, labels(frame), f"masks/{frame}")
        union = MASKS[frame].any(axis=0)
        same(Image.open(PLAIN / f"mattes/{frame:05}.png"), union * 255, f"mattes/{frame}")
        cutout, picture = Image.open(PLAIN / f"cutouts/{frame:05}.png"), Image.open(PLAIN / f"frames/{frame:05}.png")
        assert cutout.mode == "RGBA" and picture.mode == "RGB"
        same(np.asarray(cutout)[..., 3], union * 255, f"cutouts/{frame}")
        same(np.asarray(cutout)[..., :3], picture, f"colours of cutouts/{frame}")
        mots = np.asarray(Image.open(PLAIN / f"mots-png/{frame:06}.png"))
        values = np.array([0] + [(1 if o["class"] == "car" else 2) * 1000 + n for n, o in enumerate(OBJECTS, 1)])
        same(mots, values[labels(frame)], f"mots-png/{frame}")
    for number, folder in enumerate(sorted((PLAIN / "objects").iterdir())):
        for frame in range(FRAMES):
            same(Image.open(folder / f"{frame:05}.png"), MASKS[frame, number] * 255, folder.name)


def tracks_with_trackeval():
    import trackeval

    quiet = {"PRINT_CONFIG": False}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)

        def put(source, target):
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)

        # YouTube-VIS: ground truth and results are two files, each in the one form that is read.
        put(PLAIN / "youtube-vis.json", scratch / "gt/youtube_vis_train/train.json")
        put(PLAIN / "youtube-vis-results.json", scratch / "tr/youtube_vis_train/us/data/results.json")
        data = trackeval.datasets.YouTubeVIS(
            {"GT_FOLDER": f"{scratch}/gt/", "TRACKERS_FOLDER": f"{scratch}/tr/", "SPLIT_TO_EVAL": "train", **quiet}
        )
        assert data.seq_list == ["street 1"]
        for name in CLASSES:
            raw = data.get_raw_seq_data("us", "street 1")
            found = data.get_preprocessed_seq_data(raw, name)
            assert trackeval.metrics.HOTA().eval_sequence(found)["HOTA"].min() == 1.0, name
            ranges = {"USE_AREA_RANGES": False, "USE_TIME_RANGES": False, **quiet}
            assert trackeval.metrics.TrackMAP(ranges).eval_sequence(found) is not None

        # MOTS in both frame bases.
        name = "street 1"
        put(PLAIN / f"mots-txt/{name}.txt", scratch / f"kitti/label_02/{name}.txt")
        put(PLAIN / f"mots-txt/{name}.txt", scratch / f"kt/us/data/{name}.txt")
        kitti = trackeval.datasets.KittiMOTS(
            {"GT_FOLDER": f"{scratch}/kitti", "TRACKERS_FOLDER": f"{scratch}/kt", "SEQ_INFO": {name: FRAMES}, **quiet}
        )
        put(OUT / f"challenge/mots-txt/{name}/gt/gt.txt", scratch / f"mot/MOTS-train/{name}/gt/gt.txt")
        put(OUT / f"challenge/mots-txt/{name}/seqinfo.ini", scratch / f"mot/MOTS-train/{name}/seqinfo.ini")
        put(OUT / f"challenge/mots-txt/{name}/gt/gt.txt", scratch / f"mt/MOTS-train/us/data/{name}.txt")
        (scratch / "mot/seqmaps").mkdir()
        (scratch / "mot/seqmaps/MOTS-train.txt").write_text(f"name\n{name}\n")
        challenge = trackeval.datasets.MOTSChallenge(
            {"GT_FOLDER": f"{scratch}/mot", "TRACKERS_FOLDER": f"{scratch}/mt", **quiet}
        )
        assert challenge.seq_lengths == {name: FRAMES}
        from pycocotools import mask as rle

        for data, kinds in [(kitti, ["car", "pedestrian"]), (challenge, ["pedestrian"])]:
            raw = data.get_raw_seq_data("us", name)
            for frame in range(FRAMES):
                for ident, found in zip(raw["gt_ids"][frame], raw["gt_dets"][frame]):
                    same(rle.decode(found), labels(frame) == ident % 1000, f"{data.get_name()} frame {frame}")
            for kind in kinds:
                found = data.get_preprocessed_seq_data(raw, kind)
                assert trackeval.metrics.HOTA().eval_sequence(found)["HOTA"].min() == 1.0, kind

        # DAVIS: folders of indexed pictures.
        for place in ["davis/s", "dt/us/data/s"]:
            put(PLAIN / "masks", scratch / place)
        davis = trackeval.datasets.DAVIS(
            {"GT_FOLDER": f"{scratch}/davis", "TRACKERS_FOLDER": f"{scratch}/dt", "SEQ_INFO": {"s": FRAMES}, **quiet}
        )
        raw = davis.get_raw_seq_data("us", "s")
        for frame in range(FRAMES):
            # Its numbers are those of the picture.
            for number, found in zip(raw["gt_ids"][frame], raw["gt_dets"][frame]):
                same(rle.decode(found), labels(frame) == number, f"DAVIS frame {frame}, object {number}")
        found = davis.get_preprocessed_seq_data(raw, "general")
        assert trackeval.metrics.HOTA().eval_sequence(found)["HOTA"].min() == 1.0


def labels_with_supervision():
    import cv2
    import supervision

    # It looks for pictures beside the labels; the exported frames are those.
    data = supervision.DetectionDataset.from_yolo(
        str(PLAIN / "frames"), str(PLAIN / "yolo/labels/train"), str(PLAIN / "yolo/data.yaml"), force_masks=True
    )
    assert data.classes == CLASSES, data.classes
    worst = 1.0
    for path, _, found in data:
        frame = int(Path(path).stem)
        wanted = [o for o in range(len(OBJECTS)) if MASKS[frame, o].any()]
        assert len(found) == len(wanted)
        assert list(found.class_id) == [CLASSES.index(OBJECTS[o]["class"]) for o in wanted]
        for mask, number in zip(found.mask, wanted):
            truth = MASKS[frame, number].astype(bool)
            # Its raster paints a polygon's outline too, so every edge grows: what must hold is that nothing is lost.
            worst = min(worst, (mask & truth).sum() / truth.sum())
    assert worst == 1.0, worst
    coco = supervision.DetectionDataset.from_coco(str(PLAIN / "frames"), str(PLAIN / "coco.json"), force_masks=True)
    for path, _, found in coco:
        frame = int(Path(path).stem)
        wanted = [MASKS[frame, o] for o in range(len(OBJECTS)) if MASKS[frame, o].any()]
        assert len(found) == len(wanted)
        for mask, truth in zip(found.mask, wanted):
            same(mask, truth.astype(bool), path)
    del cv2


def brushes_with_label_studio():
    # The reader of brush masks alone: its package asks for more than it needs.
    spec = importlib.util.find_spec("label_studio_sdk")
    place = Path(spec.submodule_search_locations[0]) / "converter/brush.py"
    source = place.read_text()
    start = source.index("class InputStream")
    stop = source.index("def decode_from_annotation")
    namespace = {"np": np, "List": list}
    exec(compile("from typing import *\n" + source[start:stop], str(place), "exec"), namespace)
    tasks = json.loads((PLAIN / "label-studio/tasks.json").read_text())
    assert len(tasks) == FRAMES
    count = 0
    for frame, task in enumerate(tasks):
        for result in task["annotations"][0]["result"]:
            number = int(result["id"].split("-")[1]) - 1
            flat = namespace["decode_rle"](result["value"]["rle"])
            alpha = np.reshape(flat, [HEIGHT, WIDTH, 4])[:, :, 3]
            same(alpha, MASKS[frame, number] * 255, f"task {frame}")
            assert result["value"]["brushlabels"] == [OBJECTS[number]["class"]]
            count += 1
    assert count == len(visible())


def layers_with_openexr():
    import OpenEXR

    for frame in range(FRAMES):
        channels = OpenEXR.File(str(PLAIN / f"exr/{frame:05}.exr"), separate_channels=True).channels()
        assert len(channels) == 1 + len(OBJECTS), list(channels)
        same(channels["A"].pixels, MASKS[frame].any(axis=0).astype(np.float16), "A")
        for name, channel in channels.items():
            if name != "A":
                same(channel.pixels, MASKS[frame, int(name[:2]) - 1].astype(np.float16), name)


def videos_with_ffprobe():
    for name, pixels in [
        ("overlay.mp4", "yuv420p"),
        ("luma-matte.mp4", "yuv420p"),
        ("cutout.mov", "yuva444p"),
        ("cutout.webm", "yuv420p"),
        ("cutout.mkv", "bgra"),
    ]:
        command = "ffprobe -v error -count_frames -show_entries stream=nb_read_frames,pix_fmt,width,height,profile:stream_tags=alpha_mode:frame=pts_time -of json".split()
        found = json.loads(subprocess.run([*command, str(PLAIN / name)], check=True, capture_output=True).stdout)
        stream = found["streams"][0]
        assert stream["pix_fmt"].startswith(pixels), (name, stream)
        assert int(stream["nb_read_frames"]) == FRAMES and (stream["width"], stream["height"]) == (WIDTH, HEIGHT)
        for number, frame in enumerate(found["frames"]):
            assert abs(float(frame["pts_time"]) - number * 1001 / 30000) < 2e-3, (name, number, frame)
        if name == "cutout.webm":
            assert stream["tags"]["alpha_mode"] == "1", stream
        if name == "cutout.mov":
            assert "4444" in stream["profile"], stream


def shapes_of_cvat():
    """CVAT's own importer is part of its server; this reads the XML as its documentation says."""
    import xml.etree.ElementTree as tree

    root = tree.parse(PLAIN / "cvat.xml").getroot()
    assert root.findtext("version") == "1.1" and int(root.findtext("meta/task/size")) == FRAMES
    count = 0
    for number, track in enumerate(root.iter("track")):
        assert track.get("label") == OBJECTS[number]["class"]
        shown = np.zeros((FRAMES, HEIGHT, WIDTH), np.uint8)
        shapes = [dict(mask.attrib) for mask in track.iter("mask")]
        for shape, until in zip(shapes, [int(s["frame"]) for s in shapes[1:]] + [FRAMES]):
            runs = [int(run) for run in shape["rle"].split(",")]
            left, top, width, height = (int(shape[key]) for key in ["left", "top", "width", "height"])
            flat = np.repeat(np.arange(len(runs)) % 2, runs)
            if shape["outside"] == "0":
                count += 1
                # A shape stays until the next one of its track.
                shown[int(shape["frame"]) : until, top : top + height, left : left + width] = flat.reshape(height, width)
        same(shown, MASKS[:, number], f"track {number}")
    assert count == len(visible())


def table_with_csv():
    import csv

    rows = list(csv.DictReader((PLAIN / "objects.csv").open(newline="", encoding="utf-8")))
    assert len(rows) == FRAMES * len(OBJECTS)
    for row in rows:
        mask = MASKS[int(row["frame"]), int(row["object"]) - 1]
        assert row["name"] == OBJECTS[int(row["object"]) - 1]["name"]
        assert int(row["area"]) == mask.sum() and int(row["visible"]) == mask.any()
        assert abs(float(row["pts_seconds"]) - int(row["frame"]) * 1001 / 30000) < 1e-8
        if mask.any():
            ys, xs = np.where(mask)
            assert abs(float(row["centroid_x"]) - xs.mean()) < 1e-4 and abs(float(row["centroid_y"]) - ys.mean()) < 1e-4
            assert [int(row[f"box_{k}"]) for k in ["x", "y", "width", "height"]] == box(mask)


CHECKS = [
    (coco_with_pycocotools, "pycocotools"),
    (pictures_with_pillow, "PIL"),
    (tracks_with_trackeval, "trackeval"),
    (labels_with_supervision, "supervision"),
    (brushes_with_label_studio, "label_studio_sdk"),
    (layers_with_openexr, "OpenEXR"),
    (videos_with_ffprobe, None),
    (shapes_of_cvat, None),
    (table_with_csv, None),
]


def main():
    failed, missing = 0, 0
    for check, package in CHECKS:
        if package and importlib.util.find_spec(package) is None:
            print(f"MISSING {check.__name__}: {package} is not installed")
            missing += 1
            continue
        try:
            with open(os.devnull, "w") as nothing:
                before, sys.stdout = sys.stdout, nothing
                try:
                    check()
                finally:
                    sys.stdout = before
            print(f"ok      {check.__name__}")
        except Exception:
            traceback.print_exc()
            print(f"FAILED  {check.__name__}")
            failed += 1
    print(f"{len(CHECKS) - failed - missing} ok, {failed} failed, {missing} without their reader")
    sys.exit(1 if failed or missing else 0)


main()
