//! Opens the window, or says why there is none.

use eframe::egui::{ViewportBuilder, vec2};

use super::app::{App, Setup};

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
pub enum GuiError {
    /// Neither X nor Wayland, or no connection to it.
    #[error(
        "there is no display to open a window on: use `masklet track` (see `masklet --help`), or set DISPLAY"
    )]
    NoDisplay,
    /// No graphics driver can draw.
    #[error(
        "no graphics driver can draw the window ({0}): install Mesa's Vulkan or OpenGL driver, or use `masklet track`"
    )]
    NoGraphics(String),
    /// Anything else of the system.
    #[error("the window cannot be opened: {0}; `masklet track` works without one")]
    Other(String),
}

/// Opens the window and returns when it is closed.
///
/// # Errors
/// There is no display, or nothing that can draw on it.
pub fn run(setup: Setup) -> Result<(), GuiError> {
    if !display() {
        return Err(GuiError::NoDisplay);
    }
    let viewport = ViewportBuilder::default()
        .with_title("Masklet")
        .with_app_id("masklet")
        .with_inner_size(vec2(1360.0, 860.0))
        .with_min_inner_size(vec2(760.0, 480.0))
        .with_drag_and_drop(true);
    let options = eframe::NativeOptions {
        viewport,
        renderer: eframe::Renderer::Wgpu,
        centered: true,
        ..eframe::NativeOptions::default()
    };
    eframe::run_native("masklet", options, Box::new(|cc| Ok(Box::new(App::new(cc, setup)?)))).map_err(reason)
}

/// Whether there is anything to open a window on.
pub fn display() -> bool {
    if cfg!(any(windows, target_os = "macos")) {
        return true;
    }
    ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
        .into_iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn reason(error: eframe::Error) -> GuiError {
    match error {
        eframe::Error::WinitEventLoop(_) | eframe::Error::Winit(_) => GuiError::NoDisplay,
        eframe::Error::Wgpu(error) => GuiError::NoGraphics(error.to_string()),
        other => GuiError::Other(other.to_string()),
    }
}
