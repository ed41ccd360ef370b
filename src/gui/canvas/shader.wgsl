// The picture and its masks, composed for each pixel of the screen.

struct View {
    origin: vec2f,      // top-left corner of the picture, physical pixels
    scale: vec2f,       // physical pixels per pixel of the picture
    size: vec2f,        // pixels of the picture
    step: vec2f,        // pixels of the picture per texel, of the frame and of the labels
    style: u32,         // 0 off, 1 fill, 2 outline, 3 matte, 4 cut-out
    chosen: u32,        // label of the active object
    opacity: f32,       // of the fill
    line: f32,          // width of an outline, physical pixels
    backdrop: vec4f,
}

@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<uniform> palette: array<vec4f, 256>;
@group(0) @binding(2) var frame: texture_2d<f32>;
@group(0) @binding(3) var smooth_sampler: sampler;
@group(0) @binding(4) var labels: texture_2d<u32>;

@vertex
fn vertex(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(f32(i % 2u) * 4.0 - 1.0, f32(i / 2u) * 4.0 - 1.0, 0.0, 1.0);
}

// The label of a place in the picture; labels stand column by column.
fn label_at(p: vec2f) -> u32 {
    let q = clamp(p, vec2f(0.0), view.size - vec2f(1.0));
    let texel = vec2i(floor(q / view.step.y));
    return textureLoad(labels, vec2i(texel.y, texel.x), 0).r;
}

fn picture_at(p: vec2f) -> vec3f {
    let texels = vec2f(textureDimensions(frame));
    if (view.scale.y >= 1.0) {
        let q = clamp(p, vec2f(0.0), view.size - vec2f(1.0));
        return textureLoad(frame, vec2i(floor(q / view.step.x)), 0).rgb;
    }
    // Smaller than life: the mean of what falls into a pixel of the screen, up to 4 x 4 samples.
    let taps = clamp(i32(ceil(1.0 / max(view.scale.y, 0.01) / view.step.x)), 1, 4);
    var sum = vec3f(0.0);
    for (var y = 0; y < taps; y++) {
        for (var x = 0; x < taps; x++) {
            let off = (vec2f(f32(x), f32(y)) + 0.5) / f32(taps) - 0.5;
            let q = (p + off / view.scale) / view.step.x / texels;
            sum += textureSampleLevel(frame, smooth_sampler, q, 0.0).rgb;
        }
    }
    return sum / f32(taps * taps);
}

// Whether another label lies within the line's width: the line is drawn inside the mask.
fn on_border(p: vec2f, label: u32, width: f32) -> bool {
    let d = width / view.scale;
    let outside = any(p - d < vec2f(0.0)) || any(p + d >= view.size);
    let r = d * 0.7071;
    return label_at(p + vec2f(d.x, 0.0)) != label || label_at(p - vec2f(d.x, 0.0)) != label
        || label_at(p + vec2f(0.0, d.y)) != label || label_at(p - vec2f(0.0, d.y)) != label
        || label_at(p + r) != label || label_at(p - r) != label
        || label_at(p + vec2f(r.x, -r.y)) != label || label_at(p + vec2f(-r.x, r.y)) != label
        || outside;
}

@fragment
fn fragment(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let p = (at.xy - view.origin) / view.scale;
    if (any(p < vec2f(0.0)) || any(p >= view.size)) {
        return view.backdrop;
    }
    let label = label_at(p);
    if (view.style == 3u) {
        return select(vec4f(0.0, 0.0, 0.0, 1.0), vec4f(1.0), label != 0u);
    }
    if (view.style == 4u && label == 0u) {
        let square = (i32(floor(at.x / 8.0)) + i32(floor(at.y / 8.0))) & 1;
        return vec4f(vec3f(select(0.30, 0.38, square == 1)), 1.0);
    }
    let colour = picture_at(p);
    if (label == 0u || view.style == 0u || view.style == 4u) {
        return vec4f(colour, 1.0);
    }
    let ink = palette[label].rgb;
    let width = select(view.line, view.line * 1.75, label == view.chosen);
    if (on_border(p, label, width)) {
        return vec4f(ink, 1.0);
    }
    let amount = select(view.opacity, 0.0, view.style == 2u);
    return vec4f(mix(colour, ink, amount), 1.0);
}
