//! Short messages at the edge of the picture. Good news goes by itself; failures stay until they are put away.

use std::time::{Duration, Instant};

use eframe::egui::{Align2, Area, Frame, Id, Order, RichText, Ui, vec2};

use super::action::Action;
use super::icons::{self, Icon};
use super::theme::Ink;
use super::wish::Wish;

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Something went well.
    Good,
    /// Something to know.
    Plain,
    /// Something failed.
    Bad,
}

struct Toast {
    tone: Tone,
    text: String,
    offer: Option<Action>,
    until: Option<Instant>,
    times: u32,
}

/// The messages that are shown.
#[derive(Default)]
pub struct Toasts {
    shown: Vec<Toast>,
}

const STAYS: Duration = Duration::from_secs(5);
/// More than these would hide the picture.
const MOST: usize = 4;

impl Toasts {
    /// Shows a message; the same once more is counted, not repeated.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>, offer: Option<Action>, now: Instant) {
        let text = text.into();
        let until = (tone != Tone::Bad).then(|| now + STAYS);
        if let Some(same) = self.shown.iter_mut().find(|toast| toast.text == text) {
            same.until = until;
            same.times += 1;
            return;
        }
        self.shown.push(Toast { tone, text, offer, until, times: 1 });
        if self.shown.len() > MOST {
            self.shown.remove(0);
        }
    }

    /// Puts away what has been there long enough; gives the time until the next one goes.
    pub fn expire(&mut self, now: Instant) -> Option<Duration> {
        self.shown.retain(|toast| toast.until.is_none_or(|until| until > now));
        self.shown.iter().filter_map(|toast| toast.until).min().map(|until| until - now)
    }

    /// Draws them at the bottom of `ui`.
    pub fn show(&mut self, ui: &Ui, wishes: &mut Vec<Wish>) {
        if self.shown.is_empty() {
            return;
        }
        let ink = Ink::of(ui.visuals());
        let corner = ui.max_rect().right_bottom() - vec2(12.0, 12.0);
        Area::new(Id::unique("masklet toasts"))
            .order(Order::Foreground)
            .pivot(Align2::RIGHT_BOTTOM)
            .fixed_pos(corner)
            .show(ui.ctx(), |ui| {
                ui.set_max_width(380.0);
                let mut i = 0;
                while i < self.shown.len() {
                    if one(ui, &self.shown[i], &ink, wishes) {
                        self.shown.remove(i);
                    } else {
                        i += 1;
                    }
                }
            });
    }
}

/// Draws one; says whether it is put away.
fn one(ui: &mut Ui, toast: &Toast, ink: &Ink, wishes: &mut Vec<Wish>) -> bool {
    let mut done = false;
    let colour = match toast.tone {
        Tone::Good => ink.good,
        Tone::Plain => ink.accent,
        Tone::Bad => ink.bad,
    };
    Frame::popup(ui.style()).inner_margin(10).show(ui, |ui| {
        ui.horizontal(|ui| {
            let (dot, _) = ui.allocate_exact_size(vec2(8.0, 16.0), eframe::egui::Sense::hover());
            ui.painter().circle_filled(dot.center(), 4.0, colour);
            ui.vertical(|ui| {
                ui.set_max_width(300.0);
                ui.add(eframe::egui::Label::new(&toast.text).wrap());
                if toast.times > 1 {
                    ui.weak(format!("{} times", toast.times));
                }
                ui.horizontal(|ui| {
                    if let Some(action) = toast.offer
                        && ui.button(action.name()).clicked()
                    {
                        wishes.push(Wish::Do(action));
                        done = true;
                    }
                    if toast.tone == Tone::Bad && ui.button(RichText::new("Copy").size(12.0)).clicked() {
                        ui.ctx().copy_text(toast.text.clone());
                    }
                });
            });
            done |= icons::button(ui, Icon::Cross, "Put away", "", true, false).clicked();
        });
    });
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_stay_and_repeats_are_counted() {
        let now = Instant::now();
        let mut toasts = Toasts::default();
        toasts.say(Tone::Good, "saved", None, now);
        toasts.say(Tone::Bad, "broken", None, now);
        toasts.say(Tone::Bad, "broken", None, now);
        assert_eq!(toasts.shown.len(), 2);
        assert_eq!(toasts.shown[1].times, 2);
        assert_eq!(toasts.expire(now + STAYS), None);
        assert_eq!(toasts.shown.len(), 1);
        for i in 0..9 {
            toasts.say(Tone::Bad, format!("{i}"), None, now);
        }
        assert_eq!(toasts.shown.len(), MOST);
    }
}
