//! The scripts, as they are sent: each behind the prelude that they share, without comments.

use super::connection::Script;
use crate::coordinator::beside::Beside;

/// Every script of the coordinator.
pub(super) struct Scripts {
    pub(super) acquire: Script,
    pub(super) renew: Script,
    pub(super) release: Script,
    pub(super) look: Script,
    pub(super) adopt: Script,
    pub(super) list: Script,
}

impl Scripts {
    /// `can_wait`: whether whoever runs them waits for what they wrote.
    pub(super) fn new(beside: Beside, can_wait: bool) -> Self {
        Self::rewritten(beside, can_wait, &str::to_owned)
    }

    /// For tests that take a rule out, or move the clock.
    pub(super) fn rewritten(beside: Beside, can_wait: bool, rewrite: &dyn Fn(&str) -> String) -> Self {
        let others = match beside {
            Beside::Nobody => include_str!("../lua/redis/alone.lua"),
            Beside::NoNoncense => include_str!("../lua/redis/nononcense.lua"),
        };
        let script = |body: &str| {
            let text = [include_str!("../lua/redis/prelude.lua"), others, body].map(bare).join("\n");
            let text = if can_wait { text } else { text.replace("local can_wait = true", "local can_wait = false") };
            Script::new(rewrite(&text))
        };
        Self {
            acquire: script(include_str!("../lua/redis/acquire.lua")),
            renew: script(include_str!("../lua/redis/renew.lua")),
            release: script(include_str!("../lua/redis/release.lua")),
            look: script(include_str!("../lua/redis/look.lua")),
            adopt: script(include_str!("../lua/redis/adopt.lua")),
            list: script(include_str!("../lua/redis/list.lua")),
        }
    }
}

/// A text without its lines of comment.
fn bare(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join("\n")
}
