//! Keys.

use crossterm::event::{Event as Input, KeyCode, KeyEventKind, KeyModifiers, read};

use crate::work::spawn;

/// Begins to report keys until nobody listens. `None` is the wish to end.
pub(crate) fn take(tell: impl Fn(Option<char>) -> bool + Send + 'static) -> Result<(), String> {
    spawn("keys", move || {
        while let Ok(input) = read() {
            let Input::Key(key) = input else { continue };
            let is_press = key.kind == KeyEventKind::Press;
            let pressed = match key.code {
                // The terminal is raw: Ctrl-C is a key like any other.
                KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => None,
                KeyCode::Char(letter) if is_press => Some(letter.to_ascii_lowercase()),
                _ => continue,
            };
            if !tell(pressed) {
                return;
            }
        }
    })
}
