"""The ten scenarios on the 24 parity frames (640 x 360), in picture pixels. Rust reads them from the goldens, where they are stored.

A step is a prompt or {"track": first frame, "reverse": ...}; `ellipse` (x0, y0, x1, y1) is turned into a mask, None into an empty one.
"""
CAR = dict(prompt=0, object=1, points=[[150.0, 276.0]], labels=[1])
FORWARD = dict(track=0, reverse=False)

SCENARIOS = {
    "click": [CAR, FORWARD],
    "click3": [dict(prompt=0, object=1, points=[[226.0, 112.0], [250.0, 190.0], [148.0, 92.0]], labels=[1, 0, 1]), FORWARD],
    "box": [dict(prompt=0, object=1, box=[521.0, 186.0, 600.0, 264.0]), FORWARD],
    "boxclick": [dict(prompt=0, object=1, box=[60.0, 222.0, 270.0, 310.0], points=[[150.0, 240.0]], labels=[0]), FORWARD],
    "mask": [dict(prompt=0, object=1, ellipse=(150, 70, 316, 166)), FORWARD],
    "empty": [dict(prompt=0, object=1, ellipse=None), FORWARD],
    "future": [CAR, dict(prompt=15, object=1, points=[[274.0, 272.0]], labels=[1]), FORWARD],
    "correct": [CAR, FORWARD, dict(prompt=10, object=1, points=[[232.0, 272.0]], labels=[1]), dict(track=10, reverse=False)],
    "two": [dict(prompt=0, object=1, points=[[226.0, 112.0]], labels=[1]),
            dict(prompt=0, object=2, points=[[458.0, 76.0]], labels=[1]), FORWARD],
    "backward": [dict(prompt=23, object=1, points=[[395.0, 105.0]], labels=[1]), dict(track=23, reverse=True)],
}

# At 1024 the 512-trained built-in weights lose most things soon; the kite stays.
SCENARIOS_1024 = {"click": [dict(prompt=0, object=1, points=[[250.0, 125.0]], labels=[1]), FORWARD]}

# Frames whose masks are kept whole where masks are ragged and long (random weights); elsewhere a sample of the pixels is kept.
WHOLE_MASKS = (0, 10, 15, 23)

# Frames on which the points of the network are sampled, by scenario; the others are compared by their output alone.
POINT_FRAMES = {"click": (0, 1, 3, 8), "click3": (0,), "boxclick": (0,), "mask": (0, 1)}


def ellipse(box, width, height):
    """A filled ellipse inscribed in `box` as a boolean (height, width) array; empty for None. Integers only."""
    import numpy as np
    if box is None:
        return np.zeros((height, width), bool)
    x0, y0, x1, y1 = box
    y, x = np.mgrid[0:height, 0:width]
    a, b = x1 - x0, y1 - y0
    return ((2 * x - x0 - x1) * b) ** 2 + ((2 * y - y0 - y1) * a) ** 2 <= (a * b) ** 2
