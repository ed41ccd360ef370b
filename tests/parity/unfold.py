#!/usr/bin/env python3
"""Turn a Masklet model file back into an official checkpoint that computes the same function.

    unfold.py MODEL.gguf OUT.pt

The built-in weights are stored folded and in f16, which no official checkpoint reproduces to f32 accuracy. So the official code is given exactly
the numbers of the model file: batch norms become the identity with a bias, the identity branch is taken out of the 3x3 kernels again, the
merged lateral convolutions pass through unit matrices. What folding itself does is tested on the random checkpoint, which goes the normal way.
"""
import struct
import sys

import numpy as np

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def read_gguf(path):
    """Tensors of a GGUF file as f32 arrays with the slowest dimension first; f32, f16 and q8_0."""
    data = open(path, "rb").read()
    at = 0

    def take(form):
        nonlocal at
        value = struct.unpack_from("<" + form, data, at)[0]
        at += struct.calcsize("<" + form)
        return value

    def text():
        nonlocal at
        length = take("Q")
        at += length
        return data[at - length:at].decode()

    def value(kind):
        if kind == 8:
            return text()
        if kind == 9:
            inner, count = take("I"), take("Q")
            return [value(inner) for _ in range(count)]
        return take(SCALARS[kind])
    if data[:4] != b"GGUF":
        sys.exit(f"{path}: not a GGUF file")
    at = 4
    version, count, pairs = take("I"), take("Q"), take("Q")
    if version != 3:
        sys.exit(f"{path}: GGUF version {version}, not 3")
    meta = {text(): value(take("I")) for _ in range(pairs)}
    infos = []
    for _ in range(count):
        name = text()
        shape = [take("Q") for _ in range(take("I"))][::-1]
        infos.append((name, shape, take("I"), take("Q")))
    align = meta.get("general.alignment", 32)
    start = (at + align - 1) // align * align
    tensors = {}
    for name, shape, kind, offset in infos:
        n, begin = int(np.prod(shape)), start + offset
        if kind == 0:
            flat = np.frombuffer(data, "<f4", n, begin)
        elif kind == 1:
            flat = np.frombuffer(data, "<f2", n, begin).astype(np.float32)
        elif kind == 8:
            blocks = np.frombuffer(data, np.dtype([("d", "<f2"), ("q", "i1", 32)]), n // 32, begin)
            flat = (blocks["d"].astype(np.float32)[:, None] * blocks["q"].astype(np.float32)).ravel()
        else:
            sys.exit(f"{path}: tensor {name} has type {kind}")
        tensors[name] = flat.reshape(shape).copy()
    return tensors, meta


class Unfolder:
    """Fills an official state dict from the tensors of a model file, noting which were used."""

    def __init__(self, tensors, shapes):
        self.tensors, self.shapes, self.out, self.used = tensors, shapes, {}, set()

    def get(self, name):
        self.used.add(name)
        return self.tensors[name]

    def put(self, name, array):
        self.out[name] = np.ascontiguousarray(array, np.float32).reshape(self.shapes[name])

    def copy(self, official, own=None):
        """Weight and, where there is one, bias."""
        own = own or official
        for part in ("weight", "bias"):
            if f"{official}.{part}" in self.shapes:
                self.put(f"{official}.{part}", self.get(f"{own}.{part}"))

    def plain_norm(self, p, bias):
        """A batch norm that only adds `bias`: variance + 1e-5 is 1."""
        ones = np.ones_like(bias)
        self.put(f"{p}.weight", ones)
        self.put(f"{p}.bias", bias)
        self.put(f"{p}.running_mean", 0 * ones)
        self.put(f"{p}.running_var", ones * np.float32(1 - 1e-5))

    def conv_norm(self, official, own):
        self.put(f"{official}.c.weight", self.get(f"{own}.weight"))
        self.plain_norm(f"{official}.bn", self.get(f"{own}.bias"))

    def depthwise(self, own):
        """Channel-fastest (ky, kx, c) to (c, 1, ky, kx)."""
        return self.get(f"{own}.weight").transpose(2, 0, 1)[:, None]

    def token_mixer(self, official, own):
        kernel, bias = self.depthwise(own).copy(), self.get(f"{own}.bias")
        kernel[:, 0, 1, 1] -= 1  # the identity branch
        self.put(f"{official}.conv.c.weight", kernel)
        self.plain_norm(f"{official}.conv.bn", bias)
        self.put(f"{official}.conv1.c.weight", np.zeros(len(bias)))
        self.plain_norm(f"{official}.conv1.bn", 0 * bias)

    def split(self, own, parts):
        """Rows of `own.weight` (and bias) to the official modules `parts`, [(name, rows)]."""
        for part in ("weight", "bias"):
            if f"{parts[0][0]}.{part}" not in self.shapes:
                continue
            rows = self.get(f"{own}.{part}")
            for name, count in parts:
                self.put(f"{name}.{part}", rows[:count])
                rows = rows[count:]

    def through(self, lateral, head, own):
        """A merged 1x1 convolution: its rows in the lateral one, a unit matrix in the decoder's."""
        weight, bias = self.get(f"{own}.weight"), self.get(f"{own}.bias")
        wide = np.zeros((256, weight.shape[1]), np.float32)
        wide[:len(bias)] = weight
        self.put(f"{lateral}.weight", wide)
        self.put(f"{lateral}.bias", np.concatenate([bias, np.zeros(256 - len(bias), np.float32)]))
        self.put(f"{head}.weight", np.eye(len(bias), 256))
        self.put(f"{head}.bias", 0 * bias)

    def transposed(self, official, own, outputs):
        rows = self.get(f"{own}.weight")  # (ky, kx, co) x ci
        self.put(f"{official}.weight", rows.reshape(2, 2, outputs, -1).transpose(3, 2, 0, 1))
        self.put(f"{official}.bias", self.get(f"{own}.bias"))


def unfold(tensors, shapes):
    """An official state dict (f32 arrays) of the names and shapes `shapes` from a model file's `tensors`."""
    u = Unfolder(tensors, shapes)
    body = "image_encoder.trunk.body"
    u.conv_norm(f"{body}.stem.conv1", "trunk.stem.conv1")
    u.conv_norm(f"{body}.stem.conv2", "trunk.stem.conv2")
    for s, blocks in enumerate((2, 2, 14, 2)):
        if s:
            d, own = f"{body}.stages_{s}.downsample", f"trunk.stages.{s}.downsample"
            u.token_mixer(f"{d}.pre_block.token_mixer", f"{own}.pre_block.token_mixer")
            for i in (1, 2):
                u.conv_norm(f"{d}.pre_block.channel_mixer.conv{i}", f"{own}.pre_block.channel_mixer.conv{i}")
                u.conv_norm(f"{d}.ffn.conv{i}", f"{own}.ffn.conv{i}")
            u.put(f"{d}.spatial_downsample.c.weight", u.depthwise(f"{own}.spatial_downsample"))
            u.plain_norm(f"{d}.spatial_downsample.bn", u.get(f"{own}.spatial_downsample.bias"))
            u.conv_norm(f"{d}.channel_downsample", f"{own}.channel_downsample")
        for b in range(blocks):
            q, own = f"{body}.stages_{s}.blocks.{b}", f"trunk.stages.{s}.blocks.{b}"
            u.token_mixer(f"{q}.token_mixer", f"{own}.token_mixer")
            if b % 2 == 0:
                u.copy(f"{q}.se.fc1", f"{own}.se.fc1")
                u.copy(f"{q}.se.fc2", f"{own}.se.fc2")
            for i in (1, 2):
                u.conv_norm(f"{q}.channel_mixer.conv{i}", f"{own}.channel_mixer.conv{i}")
    for i in (0, 1):
        u.copy(f"image_encoder.neck.convs.{i}.conv", f"neck.convs.{i}")
    u.through("image_encoder.neck.convs.2.conv", "sam_mask_decoder.conv_s1", "neck.high_res_s1")
    u.through("image_encoder.neck.convs.3.conv", "sam_mask_decoder.conv_s0", "neck.high_res_s0")
    u.put("sam_prompt_encoder.pe_layer.positional_encoding_gaussian_matrix", u.get("prompt_encoder.gaussian"))
    for i, row in enumerate(u.get("prompt_encoder.point_embeddings")):
        u.put(f"sam_prompt_encoder.point_embeddings.{i}.weight", row)
    u.put("sam_prompt_encoder.not_a_point_embed.weight", u.get("prompt_encoder.not_a_point"))
    u.put("sam_prompt_encoder.no_mask_embed.weight", u.get("prompt_encoder.no_mask"))
    tokens = u.get("mask_decoder.tokens")
    for name, rows in (("obj_score_token", tokens[:1]), ("iou_token", tokens[1:2]), ("mask_tokens", tokens[2:])):
        u.put(f"sam_mask_decoder.{name}.weight", rows)
    u.transposed("sam_mask_decoder.output_upscaling.0", "mask_decoder.output_upscaling.0", 64)
    u.transposed("sam_mask_decoder.output_upscaling.3", "mask_decoder.output_upscaling.3", 32)
    for i in (0, 1):
        p = f"transformer.layers.{i}.self_attn"
        u.split(f"mask_decoder.{p}.qk_proj", [(f"sam_mask_decoder.{p}.q_proj", 256), (f"sam_mask_decoder.{p}.k_proj", 256)])
        p = f"memory_attention.layers.{i}.self_attn"
        u.split(f"{p}.qkv_proj", [(f"{p}.{n}_proj", 256) for n in "qkv"])
        p = f"memory_encoder.fuser.layers.{i}"
        u.put(f"{p}.dwconv.weight", u.depthwise(f"{p}.dwconv"))
        u.put(f"{p}.dwconv.bias", u.get(f"{p}.dwconv.bias"))
        u.put(f"{p}.gamma", np.ones(256))
        p = f"spatial_perceiver.layers.{i}.self_attn"
        u.split(f"{p}.to_qkv", [(f"{p}.to_q", 64), (f"{p}.to_kv", 128)])
    u.put("no_mem_pos_enc", np.zeros(256))  # never used
    # everything else has the same name but for the two prefixes
    for name in shapes:
        if name not in u.out and not name.endswith("num_batches_tracked"):
            own = name.replace("sam_prompt_encoder.", "prompt_encoder.").replace("sam_mask_decoder.", "mask_decoder.")
            u.put(name, u.get(own))
    left = set(tensors) - u.used
    if left:
        sys.exit(f"tensors of the model file without a place in the checkpoint: {sorted(left)}")
    return u.out


def write_checkpoint(model_file, target):
    """Unfold `model_file` into the official checkpoint `target`."""
    import torch
    from official import build
    state = build(None, 1024).state_dict()
    tensors, _ = read_gguf(model_file)
    arrays = unfold(tensors, {name: tuple(t.shape) for name, t in state.items()})
    torch.save({"model": {name: torch.from_numpy(arrays[name]) if name in arrays else t for name, t in state.items()}}, target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_checkpoint(*sys.argv[1:])
