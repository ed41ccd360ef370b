//! The picture and its masks on the graphics card: one paint callback, textures that are renewed when they change.

use std::sync::Arc;

use eframe::egui::{Color32, PaintCallbackInfo, Rect};
use eframe::egui_wgpu::{Callback, CallbackResources, CallbackTrait, RenderState, ScreenDescriptor};
use eframe::wgpu;

use super::Overlay;
use super::labels::Labels;
use super::pixels::{Pixels, step};
use super::view_transform::Placed;

/// Colours of all labels: R, G, B, 0 to 1; the last value is not used.
pub type Palette = [[f32; 4]; 256];

/// What is drawn.
pub struct Scene {
    /// The picture.
    pub pixels: Arc<Pixels>,
    /// Its masks.
    pub labels: Arc<Labels>,
    /// Their colours.
    pub palette: Arc<Palette>,
    /// Where the picture lies.
    pub placed: Placed,
    /// How masks look.
    pub overlay: Overlay,
    /// Label of the active object.
    pub chosen: u8,
    /// Opacity of a fill, 0 to 1.
    pub opacity: f32,
    /// Around the picture.
    pub backdrop: Color32,
}

impl Scene {
    /// The shape that draws it on `canvas`.
    pub fn shape(self, canvas: Rect) -> eframe::egui::Shape {
        Callback::new_paint_callback(canvas, self).into()
    }
}

/// Bytes of the shader's `View`.
const VIEW: u64 = 64;

/// What lies on the graphics card.
struct ViewGpu {
    pipeline: wgpu::RenderPipeline,
    view: wgpu::Buffer,
    palette: wgpu::Buffer,
    sampler: wgpu::Sampler,
    frame: Option<(Arc<Pixels>, wgpu::Texture)>,
    labels: Option<(Arc<Labels>, wgpu::Texture)>,
    colours: Option<Arc<Palette>>,
    bound: Option<wgpu::BindGroup>,
}

/// Prepares the graphics card; once, before the first [`Scene`]. Gives the longest side of a texture.
pub fn install(state: &RenderState) -> u32 {
    let gpu = ViewGpu::new(&state.device, state.target_format);
    state.renderer.write().callback_resources.insert(gpu);
    state.device.limits().max_texture_dimension_2d
}

impl ViewGpu {
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Self {
        let shader = device.create_shader_module(wgpu::include_wgsl!("shader.wgsl"));
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("masklet picture"),
            layout: None,
            vertex: wgpu::VertexState {
                module: &shader,
                entry_point: Some("vertex"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            fragment: Some(wgpu::FragmentState {
                module: &shader,
                entry_point: Some("fragment"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(format.into())],
            }),
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: None,
            multisample: wgpu::MultisampleState::default(),
            multiview_mask: None,
            cache: None,
        });
        let buffer = |label, size| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("masklet picture"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..wgpu::SamplerDescriptor::default()
        });
        Self {
            pipeline,
            view: buffer("masklet view", VIEW),
            palette: buffer("masklet palette", 256 * 16),
            sampler,
            frame: None,
            labels: None,
            colours: None,
            bound: None,
        }
    }

    fn renew(&mut self, scene: &Scene, device: &wgpu::Device, queue: &wgpu::Queue) {
        let limit = device.limits().max_texture_dimension_2d;
        let mut bound_anew = false;
        if self.frame.as_ref().is_none_or(|(old, _)| !Arc::ptr_eq(old, &scene.pixels)) {
            let pixels = &scene.pixels;
            let old = self.frame.take().map(|(_, texture)| texture);
            let (width, height) = (pixels.size.width, pixels.size.height);
            let (texture, anew) =
                filled(device, queue, old, (width, height), wgpu::TextureFormat::Rgba8Unorm, &pixels.rgba);
            bound_anew |= anew;
            self.frame = Some((Arc::clone(pixels), texture));
        }
        if self.labels.as_ref().is_none_or(|(old, _)| !Arc::ptr_eq(old, &scene.labels)) {
            let labels = &scene.labels;
            let old = self.labels.take().map(|(_, texture)| texture);
            let step = step(labels.size, limit);
            let thin;
            let (size, bytes) = if step == 1 {
                (labels.size, labels.columns.as_slice())
            } else {
                thin = labels.thinned(step);
                (thin.0, thin.1.as_slice())
            };
            // Columns are the rows of this texture.
            let (texture, anew) =
                filled(device, queue, old, (size.height, size.width), wgpu::TextureFormat::R8Uint, bytes);
            bound_anew |= anew;
            self.labels = Some((Arc::clone(labels), texture));
        }
        if self.colours.as_ref().is_none_or(|old| !Arc::ptr_eq(old, &scene.palette)) {
            queue.write_buffer(&self.palette, 0, &floats(scene.palette.as_flattened()));
            self.colours = Some(Arc::clone(&scene.palette));
        }
        queue.write_buffer(&self.view, 0, &scene.view(limit));
        if bound_anew || self.bound.is_none() {
            self.bind(device);
        }
    }

    fn bind(&mut self, device: &wgpu::Device) {
        let (Some((_, frame)), Some((_, labels))) = (&self.frame, &self.labels) else { return };
        let frame = frame.create_view(&wgpu::TextureViewDescriptor::default());
        let labels = labels.create_view(&wgpu::TextureViewDescriptor::default());
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        self.bound = Some(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("masklet picture"),
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &[
                entry(0, self.view.as_entire_binding()),
                entry(1, self.palette.as_entire_binding()),
                entry(2, wgpu::BindingResource::TextureView(&frame)),
                entry(3, wgpu::BindingResource::Sampler(&self.sampler)),
                entry(4, wgpu::BindingResource::TextureView(&labels)),
            ],
        }));
    }
}

/// A texture with these bytes: the old one where it has the size. Says whether it is a new one.
fn filled(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    old: Option<wgpu::Texture>,
    (width, height): (u32, u32),
    format: wgpu::TextureFormat,
    bytes: &[u8],
) -> (wgpu::Texture, bool) {
    let size = wgpu::Extent3d { width, height, depth_or_array_layers: 1 };
    let same = old.filter(|texture| texture.size() == size && texture.format() == format);
    let anew = same.is_none();
    let texture = same.unwrap_or_else(|| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: Some("masklet picture"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })
    });
    let row = format.block_copy_size(None).map(|size| size * width);
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: row, rows_per_image: None };
    queue.write_texture(texture.as_image_copy(), bytes, layout, size);
    (texture, anew)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

impl Scene {
    /// The shader's `View`.
    fn view(&self, limit: u32) -> Vec<u8> {
        let ppp = self.placed.pixels_per_point;
        let Self { placed, labels, .. } = self;
        let size = placed.size;
        let frame_step = size.width.max(1).div_ceil(self.pixels.size.width.max(1));
        let mut bytes = floats(&[
            placed.origin.x * ppp,
            placed.origin.y * ppp,
            placed.scale.x * ppp,
            placed.scale.y * ppp,
            size.width as f32,
            size.height as f32,
            frame_step as f32,
            step(labels.size, limit) as f32,
        ]);
        bytes.extend((self.overlay as u32).to_ne_bytes());
        bytes.extend(u32::from(self.chosen).to_ne_bytes());
        // A line is 1.25 points wide, and at least one pixel.
        bytes.extend(floats(&[self.opacity, (1.25 * ppp).max(1.0)]));
        let [r, g, b, _] = self.backdrop.to_normalized_gamma_f32();
        bytes.extend(floats(&[r, g, b, 1.0]));
        bytes
    }
}

impl CallbackTrait for Scene {
    fn prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        _: &ScreenDescriptor,
        _: &mut wgpu::CommandEncoder,
        resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        if let Some(gpu) = resources.get_mut::<ViewGpu>() {
            gpu.renew(self, device, queue);
        }
        Vec::new()
    }

    fn paint(
        &self,
        _: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        resources: &CallbackResources,
    ) {
        let Some(gpu) = resources.get::<ViewGpu>() else { return };
        let Some(bound) = &gpu.bound else { return };
        pass.set_pipeline(&gpu.pipeline);
        pass.set_bind_group(0, bound, &[]);
        pass.draw(0..3, 0..1);
    }
}
