#!/usr/bin/env python3
"""Write the random EdgeTAM checkpoint of the parity tests: the twin of `src/convert/random.rs`.

    random_checkpoint.py OUT.pt          also prints the SHA-256 over all tensors

Every value is a function of the tensor's official name and the element's index alone (README.md, "The random checkpoint"), computed in
f64 and rounded once to f32, so that Rust and Python agree bit for bit. Names and shapes come from the official model itself.
"""
import hashlib
import sys

import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def fnv1a(text):
    """FNV-1a, 64 bits, of the UTF-8 bytes."""
    key = 0xCBF29CE484222325
    for byte in text.encode():
        key = (key ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return np.uint64(key)


def draws(name, count):
    """The four 64-bit draws u(i, j) of every element: an array (count, 4)."""
    with np.errstate(over="ignore"):
        x = fnv1a(name) + (np.arange(4 * count, dtype=np.uint64) + np.uint64(1)) * GOLDEN
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).reshape(count, 4)


def normal(name, count):
    """z: the sum of twelve 16-bit integers, centred; mean 0, variance 1 to within 2^-32."""
    u = draws(name, count)[:, :3]
    total = sum(((u >> np.uint64(16 * k)) & np.uint64(0xFFFF)).astype(np.int64).sum(axis=1) for k in range(4))
    return (total - 6 * 65535).astype(np.float64) / 65536.0


def uniform(name, count):
    """A number in [0, 1) with 53 bits."""
    return (draws(name, count)[:, 3] >> np.uint64(11)).astype(np.float64) * 2.0**-53


def gain(name):
    """Factor on 1/sqrt(fan-in) of a weight of two or more dimensions; tuned so that every stage stays alive and masks are partial."""
    if name.endswith((".q_proj.weight", ".to_q.weight")):
        return 2.5
    if ".output_hypernetworks_mlps." in name and name.endswith(".layers.2.weight"):
        return -2.5 if ".output_hypernetworks_mlps.0." in name else 2.5
    if name.endswith(".token_mixer.conv.c.weight"):
        return 0.5
    if name.endswith(".token_mixer.conv1.c.weight"):
        return 0.25
    if ".blocks." in name and name.endswith(".channel_mixer.conv2.c.weight"):
        return 0.7
    return 1.0


def values(name, shape):
    """The tensor `name` of `shape`, f32, in PyTorch's memory order."""
    count = int(np.prod(shape, dtype=np.int64))
    if name.endswith(".running_var"):
        data = 0.9 + 0.2 * uniform(name, count)
    else:
        z = normal(name, count)
        if name.endswith(".running_mean"):
            data = 0.05 * z
        elif name.endswith(".gamma"):
            data = 0.3 * z
        elif name in ("maskmem_tpos_enc", "no_mem_embed", "no_mem_pos_enc", "no_obj_ptr"):
            data = 0.5 * z
        elif (name.endswith((".positional_encoding_gaussian_matrix", "_embed.weight", "_token.weight", "_tokens.weight"))
              or ".point_embeddings." in name or name.startswith("spatial_perceiver.latents")):
            data = z
        elif name == "sam_mask_decoder.pred_obj_score_head.layers.2.bias":
            data = 3.0 + 0.1 * z
        elif name.endswith(".bias"):
            data = 0.1 * z
        elif len(shape) == 1:
            data = 1.0 + 0.1 * z
        else:
            # the transposed convolutions keep (Cin, Cout, 2, 2) and do not overlap: fan-in is Cin
            transposed = name in ("sam_mask_decoder.output_upscaling.0.weight", "sam_mask_decoder.output_upscaling.3.weight")
            fan_in = shape[0] if transposed else count // shape[0]
            data = gain(name) / np.sqrt(np.float64(fan_in)) * z
    return data.astype(np.float32).reshape(shape)


def digest(tensors):
    """SHA-256 over the float tensors in the order of their names' bytes, each as little-endian f32."""
    sha = hashlib.sha256()
    for name in sorted(tensors, key=str.encode):
        sha.update(np.ascontiguousarray(tensors[name], dtype="<f4").tobytes())
    return sha.hexdigest()


def checkpoint(shapes):
    """`{name: array}` for `{name: shape}`, without the integer counters."""
    return {name: values(name, shape) for name, shape in shapes.items() if not name.endswith(".num_batches_tracked")}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    import torch
    from official import build
    state = build(None, 1024).state_dict()
    tensors = checkpoint({name: tuple(t.shape) for name, t in state.items()})
    full = {name: torch.from_numpy(tensors[name]) if name in tensors else torch.zeros((), dtype=torch.int64) for name in state}
    torch.save({"model": full}, sys.argv[1])
    print(f"{len(full)} entries, {len(tensors)} float tensors, sha256 {digest(tensors)}")


if __name__ == "__main__":
    main()
