//! Which keys mean which action: the table's, changed by the person's own.

use std::collections::BTreeMap;

use eframe::egui::{Event, InputState, Key, KeyboardShortcut, Modifiers};

use super::action::{Action, TABLE};

/// The key map in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    map: Vec<(Action, Vec<KeyboardShortcut>)>,
}

/// What may take keys at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// The picture, or nothing: all keys are actions.
    Picture,
    /// A button or a list: the keys that work it are its own.
    Control,
    /// Text is written: only a few keys are actions.
    Text,
}

impl Default for Keys {
    fn default() -> Self {
        Self { map: TABLE.iter().map(|entry| (entry.action, defaults(entry.keys))).collect() }
    }
}

fn defaults(keys: &[&str]) -> Vec<KeyboardShortcut> {
    keys.iter().filter_map(|text| parse(text)).collect()
}

impl Keys {
    /// The table's keys with the person's `own`: action by its id, keys as text. What cannot be read is left out.
    pub fn with(own: &BTreeMap<String, Vec<String>>) -> Self {
        let mut keys = Self::default();
        for (action, shortcuts) in &mut keys.map {
            if let Some(texts) = own.get(&action.id()) {
                *shortcuts = texts.iter().filter_map(|text| parse(text)).collect();
            }
        }
        keys
    }

    /// What differs from the table, for the settings.
    pub fn own(&self) -> BTreeMap<String, Vec<String>> {
        let differs = |(action, keys): &&(Action, Vec<_>)| *keys != defaults(action.entry().keys);
        self.map.iter().filter(differs).map(|(a, keys)| (a.id(), keys.iter().map(text).collect())).collect()
    }

    /// The keys of `action`.
    pub fn of(&self, action: Action) -> &[KeyboardShortcut] {
        self.map.iter().find(|(a, _)| *a == action).map_or(&[], |(_, keys)| keys)
    }

    /// The first key of `action` in words; empty without one.
    pub fn hint(&self, action: Action) -> String {
        self.of(action).first().map(text).unwrap_or_default()
    }

    /// The action that has this key.
    pub fn action(&self, shortcut: KeyboardShortcut) -> Option<Action> {
        self.map.iter().find(|(_, keys)| keys.contains(&shortcut)).map(|(action, _)| *action)
    }

    /// Gives `action` this key alone, and takes it from whoever had it; says who that was.
    pub fn set(&mut self, action: Action, shortcut: KeyboardShortcut) -> Option<Action> {
        let before = self.action(shortcut).filter(|other| *other != action);
        for (other, keys) in &mut self.map {
            keys.retain(|key| *key != shortcut);
            if *other == action {
                *keys = vec![shortcut];
            }
        }
        before
    }

    /// Gives `action` the table's keys back, as far as no other action has them now.
    pub fn reset(&mut self, action: Action) {
        let free: Vec<_> = defaults(action.entry().keys)
            .into_iter()
            .filter(|key| self.action(*key).is_none_or(|other| other == action))
            .collect();
        if let Some((_, keys)) = self.map.iter_mut().find(|(a, _)| *a == action) {
            *keys = free;
        }
    }

    /// The actions asked for by the keys of this frame, in order. Space acts when it is released, because holding it
    /// moves the picture; `dragged` says that it did.
    pub fn asked(&self, input: &InputState, focus: Focus, dragged: bool) -> Vec<Action> {
        let keys = input.events.iter().filter_map(|event| match *event {
            Event::Key { key: Key::Space, pressed: false, modifiers, .. } if !dragged => {
                Some((Key::Space, modifiers))
            }
            Event::Key { key, pressed: true, modifiers, .. } if key != Key::Space => Some((key, modifiers)),
            _ => None,
        });
        keys.filter_map(|(key, modifiers)| self.meant(key, modifiers, focus)).collect()
    }

    fn meant(&self, key: Key, modifiers: Modifiers, focus: Focus) -> Option<Action> {
        let action = self.action(shortcut(key, modifiers))?;
        let plain = !modifiers.command && !modifiers.alt;
        let works_controls = matches!(
            key,
            Key::Space
                | Key::Enter
                | Key::Tab
                | Key::ArrowLeft
                | Key::ArrowRight
                | Key::ArrowUp
                | Key::ArrowDown
        );
        match focus {
            Focus::Picture => Some(action),
            Focus::Control => (!(plain && works_controls)).then_some(action),
            Focus::Text => action.works_in_text().then_some(action),
        }
    }
}

/// The key with modifiers in one form: Cmd stands for Ctrl, and what Shift already did to a sign does not count twice.
pub fn shortcut(key: Key, modifiers: Modifiers) -> KeyboardShortcut {
    let sign = matches!(key, Key::Questionmark | Key::Plus | Key::Colon | Key::Pipe | Key::Exclamationmark);
    let modifiers = Modifiers {
        alt: modifiers.alt,
        shift: modifiers.shift && !sign,
        command: modifiers.command || modifiers.ctrl,
        ..Modifiers::NONE
    };
    KeyboardShortcut::new(modifiers, key)
}

/// A shortcut in words: "Ctrl+Shift+S".
pub fn text(shortcut: &KeyboardShortcut) -> String {
    let Modifiers { alt, shift, command, .. } = shortcut.modifiers;
    let control = if cfg!(target_os = "macos") { "Cmd+" } else { "Ctrl+" };
    let parts = [(command, control), (alt, "Alt+"), (shift, "Shift+")];
    let mut out: String = parts.into_iter().filter_map(|(on, word)| on.then_some(word)).collect();
    out.push_str(match shortcut.logical_key {
        Key::OpenBracket => "[",
        Key::CloseBracket => "]",
        Key::Comma => ",",
        Key::Period => ".",
        Key::Minus => "-",
        Key::Equals => "=",
        Key::Plus => "+",
        Key::Questionmark => "?",
        key => key.name(),
    });
    out
}

/// Reads a shortcut; `None` where a word is unknown.
pub fn parse(text: &str) -> Option<KeyboardShortcut> {
    let mut modifiers = Modifiers::NONE;
    let mut rest = text;
    loop {
        let (word, behind) = rest.split_once('+').unwrap_or((rest, ""));
        match word {
            "Ctrl" | "Cmd" => modifiers.command = true,
            "Alt" => modifiers.alt = true,
            "Shift" => modifiers.shift = true,
            _ => return Some(KeyboardShortcut::new(modifiers, Key::from_name(rest)?)),
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_can_be_read_and_no_two_actions_share_one() {
        let mut seen = BTreeMap::new();
        for entry in TABLE {
            for key in entry.keys {
                let shortcut = parse(key).unwrap_or_else(|| panic!("{key} of {:?}", entry.action));
                assert_eq!(parse(&text(&shortcut)), Some(shortcut), "{key}");
                let other = seen.insert(text(&shortcut), entry.action);
                assert_eq!(other, None, "{key} means two things");
            }
        }
    }

    #[test]
    fn a_key_that_is_given_away_is_said_and_can_be_had_back() {
        let mut keys = Keys::default();
        let t = parse("T").unwrap();
        assert_eq!(keys.set(Action::Log, t), Some(Action::TrackForward));
        assert_eq!(keys.action(t), Some(Action::Log));
        assert!(keys.of(Action::TrackForward).is_empty());
        assert_eq!(Keys::with(&keys.own()), keys);
        keys.reset(Action::TrackForward);
        assert!(keys.of(Action::TrackForward).is_empty(), "the other still has it");
        keys.reset(Action::Log);
        keys.reset(Action::TrackForward);
        assert_eq!(keys, Keys::default());
        assert!(keys.own().is_empty());
    }

    #[test]
    fn what_settings_hold_wrongly_is_left_out() {
        let own = BTreeMap::from([("undo".to_owned(), vec!["Ctrl+Nonsense".to_owned(), "F9".to_owned()])]);
        let keys = Keys::with(&own);
        assert_eq!(keys.hint(Action::Undo), "F9");
    }
}
