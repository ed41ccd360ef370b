//! Colours, spacing and type: neutral greys, so that the picture's colours are judged rightly, and one accent.

use eframe::egui::{
    Color32, Context, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Theme, ThemePreference,
    Visuals, vec2,
};

/// Colours that egui's own style has no place for.
#[derive(Clone, Copy, Debug)]
pub struct Ink {
    /// What is active or selected.
    pub accent: Color32,
    /// Behind the picture.
    pub backdrop: Color32,
    /// Behind a lane of the timeline.
    pub lane: Color32,
    /// Behind the active object's lane and row.
    pub chosen: Color32,
    /// Text that explains.
    pub quiet: Color32,
    /// Something a person should look at.
    pub warn: Color32,
    /// Something that failed.
    pub bad: Color32,
    /// Something that went well.
    pub good: Color32,
}

impl Ink {
    /// The colours for a theme.
    pub fn of(visuals: &Visuals) -> Self {
        if visuals.dark_mode {
            Self {
                accent: Color32::from_rgb(86, 156, 240),
                backdrop: Color32::from_gray(18),
                lane: Color32::from_gray(26),
                chosen: Color32::from_rgb(38, 52, 72),
                quiet: Color32::from_gray(150),
                warn: Color32::from_rgb(240, 178, 74),
                bad: Color32::from_rgb(240, 108, 100),
                good: Color32::from_rgb(106, 196, 126),
            }
        } else {
            Self {
                accent: Color32::from_rgb(24, 100, 200),
                backdrop: Color32::from_gray(206),
                lane: Color32::from_gray(228),
                chosen: Color32::from_rgb(208, 224, 246),
                quiet: Color32::from_gray(96),
                warn: Color32::from_rgb(156, 98, 0),
                bad: Color32::from_rgb(190, 40, 34),
                good: Color32::from_rgb(24, 122, 52),
            }
        }
    }
}

/// Sets up both themes and the text sizes.
pub fn install(ctx: &Context) {
    for theme in [Theme::Dark, Theme::Light] {
        ctx.set_visuals_of(theme, visuals(theme));
    }
    ctx.all_styles_mut(|style| {
        style.spacing.item_spacing = vec2(6.0, 6.0);
        style.spacing.button_padding = vec2(8.0, 4.0);
        style.spacing.interact_size.y = 24.0;
        style.spacing.window_margin = Margin::same(16);
        style.spacing.menu_margin = Margin::same(6);
        style.spacing.tooltip_width = 360.0;
        style.interaction.selectable_labels = false;
        style.interaction.tooltip_delay = 0.4;
        let size = |size| FontId::new(size, FontFamily::Proportional);
        style.text_styles = [
            (TextStyle::Small, size(11.0)),
            (TextStyle::Body, size(13.0)),
            (TextStyle::Button, size(13.0)),
            (TextStyle::Heading, size(17.0)),
            (TextStyle::Monospace, FontId::new(12.0, FontFamily::Monospace)),
        ]
        .into();
    });
    // Ctrl with plus and minus belongs to the picture.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
}

fn visuals(theme: Theme) -> Visuals {
    let dark = theme == Theme::Dark;
    let mut v = if dark { Visuals::dark() } else { Visuals::light() };
    let ink = Ink::of(&v);
    let grey = |in_dark: u8, in_light: u8| Color32::from_gray(if dark { in_dark } else { in_light });
    v.panel_fill = grey(33, 244);
    v.window_fill = grey(40, 250);
    v.extreme_bg_color = grey(22, 255);
    v.faint_bg_color = grey(38, 238);
    v.window_stroke = Stroke::new(1.0, grey(62, 200));
    v.selection.bg_fill =
        if dark { Color32::from_rgb(44, 86, 142) } else { Color32::from_rgb(176, 208, 250) };
    v.selection.stroke = Stroke::new(1.0, if dark { Color32::WHITE } else { Color32::from_rgb(10, 50, 110) });
    v.hyperlink_color = ink.accent;
    v.warn_fg_color = ink.warn;
    v.error_fg_color = ink.bad;
    v.window_corner_radius = CornerRadius::same(8);
    v.menu_corner_radius = CornerRadius::same(6);
    v.widgets.noninteractive.bg_stroke = Stroke::new(1.0, grey(52, 212));
    v.widgets.noninteractive.fg_stroke.color = grey(214, 40);
    v.widgets.inactive.fg_stroke.color = grey(222, 36);
    v.widgets.inactive.weak_bg_fill = grey(54, 228);
    v.widgets.hovered.weak_bg_fill = grey(68, 216);
    v.widgets.hovered.bg_stroke = Stroke::new(1.0, grey(92, 170));
    v.widgets.active.weak_bg_fill = grey(80, 200);
    v.widgets.active.bg_stroke = Stroke::new(1.0, ink.accent);
    for widget in
        [&mut v.widgets.inactive, &mut v.widgets.hovered, &mut v.widgets.active, &mut v.widgets.open]
    {
        widget.corner_radius = CornerRadius::same(4);
        widget.expansion = 0.0;
    }
    v
}

/// What the settings call a theme.
pub fn preference(name: &str) -> ThemePreference {
    match name {
        "light" => ThemePreference::Light,
        "system" => ThemePreference::System,
        _ => ThemePreference::Dark,
    }
}

/// The theme after this one.
pub fn next(name: &str) -> &'static str {
    match name {
        "dark" => "light",
        "light" => "system",
        _ => "dark",
    }
}
