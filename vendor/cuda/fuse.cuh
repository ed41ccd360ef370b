// Chains of small operations as one kernel each, inside ggml's CUDA backend: the graph stays ggml's own, and a backend
// without this file computes the same. The patterns are the network's: bias with activation, bias with residual,
// normalisation with its affine part, the gate of a channel.
//
// vendor/CMakeLists.txt puts this file in front of ggml_cuda_try_fuse and a call of masklet_try_fuse into it.
#pragma once

#include <cstdint>
#include <cstdlib>

enum masklet_act { MASKLET_NONE, MASKLET_RELU, MASKLET_GELU };

template <masklet_act act> static __device__ __forceinline__ float masklet_apply(float x) {
    if constexpr (act == MASKLET_RELU) {
        return fmaxf(x, 0.0f);
    } else if constexpr (act == MASKLET_GELU) {
        return 0.5f * x * (1.0f + erff(x * 0.70710678118654752440f));
    } else {
        return x;
    }
}

// y = act(x + bias + residual), or act(x * bias + residual): four channels a thread; bias is one row.
template <masklet_act act, bool multiply, bool residual>
static __global__ void masklet_rows(const float4 * x, const float4 * bias, const float4 * more, float4 * y,
                                    const uint32_t count, const uint32_t width) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    float4 v = x[i];
    const float4 b = bias[i % width];
    if constexpr (multiply) {
        v = make_float4(v.x * b.x, v.y * b.y, v.z * b.z, v.w * b.w);
    } else {
        v = make_float4(v.x + b.x, v.y + b.y, v.z + b.z, v.w + b.w);
    }
    if constexpr (residual) {
        const float4 m = more[i];
        v = make_float4(v.x + m.x, v.y + m.y, v.z + m.z, v.w + m.w);
    }
    y[i] = make_float4(masklet_apply<act>(v.x), masklet_apply<act>(v.y), masklet_apply<act>(v.z), masklet_apply<act>(v.w));
}

// y = act(norm(x) * weight + bias): a warp for each row, which it holds in registers.
template <masklet_act act, int per_lane>
static __global__ void masklet_norm(const float * x, const float * weight, const float * bias, float * y, const int rows,
                                    const int width, const int64_t stride, const float eps) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    x += row * stride;
    y += int64_t(row) * width;
    float v[per_lane];
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < per_lane; j++) {
        const int c = threadIdx.x + 32 * j;
        v[j] = c < width ? x[c] : 0.0f;
        sum += v[j];
    }
    const float mean = warp_reduce_sum<32>(sum) / width;
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < per_lane; j++) {
        const float d = threadIdx.x + 32 * j < width ? v[j] - mean : 0.0f;
        squares += d * d;
    }
    const float scale = rsqrtf(warp_reduce_sum<32>(squares) / width + eps);
#pragma unroll
    for (int j = 0; j < per_lane; j++) {
        const int c = threadIdx.x + 32 * j;
        if (c < width) {
            y[c] = masklet_apply<act>((v[j] - mean) * scale * weight[c] + bias[c]);
        }
    }
}

// Depthwise convolution of a channel-fastest map, plus bias: four channels of a pixel a thread.
static __global__ void masklet_depthwise(const float4 * x, const float4 * kernel, const float4 * bias, float4 * y,
                                         const int channels, const int width, const int height, const int out_width,
                                         const int out_height, const int side, const int step, const int pad) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * out_width * out_height) {
        return;
    }
    const int c = i % channels, at = i / channels, left = at % out_width * step - pad, top = at / out_width * step - pad;
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int ky = 0; ky < side; ky++) {
        const int row = top + ky;
        if (row < 0 || row >= height) {
            continue;
        }
        for (int kx = 0; kx < side; kx++) {
            const int column = left + kx;
            if (column < 0 || column >= width) {
                continue;
            }
            const float4 v = x[(row * width + column) * channels + c], k = kernel[(ky * side + kx) * channels + c];
            sum = make_float4(sum.x + v.x * k.x, sum.y + v.y * k.y, sum.z + v.z * k.z, sum.w + v.w * k.w);
        }
    }
    const float4 b = bias[c];
    y[i] = make_float4(sum.x + b.x, sum.y + b.y, sum.z + b.z, sum.w + b.w);
}

// Whether `b` lies apart from what is written to `a`, or is just what is overwritten element by element.
static bool masklet_apart(const ggml_tensor * a, const ggml_tensor * b) {
    const char * a0 = (const char *) a->data, * b0 = (const char *) b->data;
    const size_t an = ggml_nbytes(a), bn = ggml_nbytes(b);
    return (a0 == b0 && an == bn && ggml_is_contiguous(b)) || a0 + an <= b0 || b0 + bn <= a0;
}

static bool masklet_plain(const ggml_tensor * t) {
    return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t);
}

// One row as wide as `like`.
static bool masklet_is_row(const ggml_tensor * t, const ggml_tensor * like) {
    return masklet_plain(t) && t->ne[0] == like->ne[0] && ggml_nelements(t) == t->ne[0];
}

static masklet_act masklet_act_of(const ggml_tensor * node) {
    switch (ggml_get_unary_op(node)) {
        case GGML_UNARY_OP_RELU:     return MASKLET_RELU;
        case GGML_UNARY_OP_GELU_ERF: return MASKLET_GELU;
        default:                     return MASKLET_NONE;
    }
}

template <bool multiply>
static void masklet_launch_rows(cudaStream_t stream, const ggml_tensor * x, const ggml_tensor * row, const ggml_tensor * more,
                                ggml_tensor * y, const masklet_act act) {
    const uint32_t count = ggml_nelements(x) / 4, width = x->ne[0] / 4, block = 256, grid = (count + block - 1) / block;
    const float4 * xd = (const float4 *) x->data, * rd = (const float4 *) row->data;
    const float4 * md = more ? (const float4 *) more->data : nullptr;
    float4 * yd = (float4 *) y->data;
    if (more) {
        masklet_rows<MASKLET_NONE, multiply, true><<<grid, block, 0, stream>>>(xd, rd, md, yd, count, width);
    } else if (act == MASKLET_GELU) {
        masklet_rows<MASKLET_GELU, multiply, false><<<grid, block, 0, stream>>>(xd, rd, md, yd, count, width);
    } else if (act == MASKLET_RELU) {
        masklet_rows<MASKLET_RELU, multiply, false><<<grid, block, 0, stream>>>(xd, rd, md, yd, count, width);
    } else {
        masklet_rows<MASKLET_NONE, multiply, false><<<grid, block, 0, stream>>>(xd, rd, md, yd, count, width);
    }
    CUDA_CHECK(cudaGetLastError());
}

template <masklet_act act>
static void masklet_launch_norm(cudaStream_t stream, const ggml_tensor * x, const ggml_tensor * w, const ggml_tensor * b,
                                ggml_tensor * y, const float eps) {
    const int width = x->ne[0], rows = ggml_nelements(x) / width;
    const int64_t stride = x->nb[1] / sizeof(float);
    const dim3 block(32, 8), grid((rows + 7) / 8);
    const float * xd = (const float *) x->data, * wd = (const float *) w->data, * bd = (const float *) b->data;
    float * yd = (float *) y->data;
    if (width <= 64) {
        masklet_norm<act, 2><<<grid, block, 0, stream>>>(xd, wd, bd, yd, rows, width, stride, eps);
    } else {
        masklet_norm<act, 8><<<grid, block, 0, stream>>>(xd, wd, bd, yd, rows, width, stride, eps);
    }
    CUDA_CHECK(cudaGetLastError());
}

static int masklet_try_norm(ggml_backend_cuda_context * ctx, ggml_cgraph * graph, int i) {
    const ggml_op affine[] = { GGML_OP_NORM, GGML_OP_MUL, GGML_OP_ADD };
    if (!ggml_can_fuse(graph, i, affine, 3)) {
        return 0;
    }
    ggml_tensor * norm = graph->nodes[i], * mul = graph->nodes[i + 1], * add = graph->nodes[i + 2];
    const ggml_tensor * x = norm->src[0], * w = mul->src[1], * b = add->src[1];
    if (mul->src[0] != norm || add->src[0] != mul || !masklet_is_row(w, x) || !masklet_is_row(b, x) ||
        !masklet_plain(x) || x->ne[0] > 256) {
        return 0;
    }
    ggml_tensor * y = add;
    int count = 3;
    const ggml_op activated[] = { GGML_OP_NORM, GGML_OP_MUL, GGML_OP_ADD, GGML_OP_UNARY };
    if (ggml_can_fuse(graph, i, activated, 4) && masklet_act_of(graph->nodes[i + 3]) == MASKLET_GELU) {
        y = graph->nodes[i + 3];
        count = 4;
    }
    if (!masklet_plain(y) || !masklet_apart(y, x) || !masklet_apart(y, w) || !masklet_apart(y, b)) {
        return 0;
    }
    float eps;
    memcpy(&eps, norm->op_params, sizeof(eps));
    if (count == 4) {
        masklet_launch_norm<MASKLET_GELU>(ctx->stream(), x, w, b, y, eps);
    } else {
        masklet_launch_norm<MASKLET_NONE>(ctx->stream(), x, w, b, y, eps);
    }
    return count - 1;
}

static int masklet_try_rows(ggml_backend_cuda_context * ctx, ggml_cgraph * graph, int i) {
    ggml_tensor * first = graph->nodes[i];
    const ggml_tensor * x = first->src[0], * row = first->src[1], * more = nullptr;
    const bool multiply = first->op == GGML_OP_MUL;
    if (!masklet_plain(x) || !masklet_is_row(row, x) || x->ne[0] % 4 != 0 || ggml_nelements(x) >= (int64_t(1) << 33)) {
        return 0;
    }
    ggml_tensor * y = first;
    masklet_act act = MASKLET_NONE;
    int count = 1;
    const ggml_op activated[] = { first->op, GGML_OP_UNARY }, added[] = { first->op, GGML_OP_ADD };
    if (ggml_can_fuse(graph, i, activated, 2) && masklet_act_of(graph->nodes[i + 1]) != MASKLET_NONE) {
        y = graph->nodes[i + 1];
        act = masklet_act_of(y);
        count = 2;
    } else if (ggml_can_fuse(graph, i, added, 2)) {
        ggml_tensor * second = graph->nodes[i + 1];
        const ggml_tensor * other = second->src[0] == first ? second->src[1] : second->src[0];
        if (other != first && masklet_plain(other) && ggml_are_same_shape(other, first)) {
            y = second;
            more = other;
            count = 2;
        }
    }
    const auto aligned = [](const ggml_tensor * t) { return (uintptr_t) t->data % sizeof(float4) == 0; };
    if (!masklet_plain(y) || !masklet_apart(y, x) || !masklet_apart(y, row) || (more && !masklet_apart(y, more)) ||
        !aligned(x) || !aligned(row) || !aligned(y) || (more && !aligned(more))) {
        return 0;
    }
    if (multiply) {
        masklet_launch_rows<true>(ctx->stream(), x, row, more, y, act);
    } else {
        masklet_launch_rows<false>(ctx->stream(), x, row, more, y, act);
    }
    return count;
}

// Channels fastest, then columns, then rows, without gaps.
static bool masklet_channels_last(const ggml_tensor * t) {
    const size_t size = sizeof(float);
    return t->type == GGML_TYPE_F32 && t->ne[3] == 1 && t->nb[2] == size && t->nb[0] == size * t->ne[2] &&
           t->nb[1] == t->nb[0] * t->ne[0];
}

static int masklet_try_depthwise(ggml_backend_cuda_context * ctx, ggml_cgraph * graph, int i) {
    if (i + 2 >= graph->n_nodes) {
        return 0;
    }
    ggml_tensor * conv = graph->nodes[i], * view = graph->nodes[i + 1], * add = graph->nodes[i + 2];
    if (view->op != GGML_OP_PERMUTE || view->src[0] != conv || add->op != GGML_OP_ADD || add->src[0] != view ||
        !ggml_node_has_n_uses(graph, i, 1) || !ggml_node_has_n_uses(graph, i + 1, 1) || !masklet_plain(view)) {
        return 0;
    }
    const ggml_tensor * kernel = conv->src[0], * x = conv->src[1], * bias = add->src[1];
    const int32_t * p = (const int32_t *) conv->op_params;
    const int64_t channels = x->ne[2];
    const bool kernel_fits = kernel->type == GGML_TYPE_F32 && kernel->ne[0] == kernel->ne[1] && kernel->nb[3] == sizeof(float) &&
                             kernel->nb[0] == sizeof(float) * channels && kernel->nb[1] == kernel->nb[0] * kernel->ne[0];
    if (!kernel_fits || !masklet_channels_last(x) || !masklet_channels_last(conv) || !masklet_plain(add) || channels % 4 != 0 ||
        !masklet_is_row(bias, add) || add->ne[0] != channels || p[0] != p[1] || p[2] != p[3] || p[4] != 1 || p[5] != 1) {
        return 0;
    }
    // Neighbours are read after a pixel is written: nothing may be overwritten.
    for (const ggml_tensor * other : { x, kernel, bias }) {
        const char * a0 = (const char *) add->data, * b0 = (const char *) other->data;
        if (!(a0 + ggml_nbytes(add) <= b0 || b0 + ggml_nbytes(other) <= a0) || (uintptr_t) b0 % sizeof(float4) != 0) {
            return 0;
        }
    }
    if ((uintptr_t) add->data % sizeof(float4) != 0) {
        return 0;
    }
    const int quads = channels / 4, ow = conv->ne[0], oh = conv->ne[1], block = 256, grid = (quads * ow * oh + block - 1) / block;
    masklet_depthwise<<<grid, block, 0, ctx->stream()>>>((const float4 *) x->data, (const float4 *) kernel->data,
                                                         (const float4 *) bias->data, (float4 *) add->data, quads, x->ne[0],
                                                         x->ne[1], ow, oh, kernel->ne[0], p[0], p[2]);
    CUDA_CHECK(cudaGetLastError());
    return 3;
}

// Computes node `i` and some after it, if they are such a chain: how many were computed, 0 for none.
static int masklet_try_fuse(ggml_backend_cuda_context * ctx, ggml_cgraph * graph, int i) {
    static const bool off = getenv("MASKLET_CUDA_FUSE") != nullptr && std::atoi(getenv("MASKLET_CUDA_FUSE")) == 0;
    if (off) {
        return 0;
    }
    switch (graph->nodes[i]->op) {
        case GGML_OP_NORM: {
            const int after = masklet_try_norm(ctx, graph, i);
            return after > 0 ? after + 1 : 0;
        }
        case GGML_OP_CONV_2D_DW:
            return masklet_try_depthwise(ctx, graph, i);
        case GGML_OP_ADD:
        case GGML_OP_MUL:
            return masklet_try_rows(ctx, graph, i);
        default:
            return 0;
    }
}
