//! What may be believed of an answer. A refusal says what was found and what was expected; never a token.

use crate::coordinator::functions::Granted;
use crate::coordinator::{Grant, Lease, MachineIds, Term, Token, Usage};
use crate::layout::Layout;

/// A grant for the time after the coordinator's `now`, under the token that was `offered` or one of the answer's own.
pub(super) fn acquired(
    granted: &Granted,
    offered: Token,
    machine_ids: MachineIds,
    layout: &Layout,
) -> Result<Grant, String> {
    let MachineIds { first, last } = machine_ids;
    let found = granted.machine.unwrap_or(f64::NAN);
    let machine = whole(found, u64::from(first), u64::from(last))
        .ok_or_else(|| format!("answered machineId {found}; expected an integer from {first} to {last}"))?;
    let token = match &granted.token {
        None => offered,
        Some(text) => parse_token(text).ok_or_else(|| {
            "answered a token that is none; expected the one that it was given, or another UUID".to_owned()
        })?,
    };
    let (now_ms, end_ms) = times(granted, layout)?;
    let usage = match granted.leased {
        None => None,
        Some(found) => {
            let capacity = machine_ids.capacity();
            let leased = whole(found, 1, u64::from(capacity)).ok_or_else(|| {
                format!("answered leased {found}; expected an integer from 1 to {capacity}, this lease included")
            })?;
            Some(Usage { leased: leased as u32, capacity })
        }
    };
    let lease = Lease { machine: machine as u32, token, start_ms: now_ms + 1, end_ms };
    Ok(Grant { lease, now_ms, term: Term::Renewable, usage })
}

/// The same lease with an end that is not earlier than the one before.
pub(super) fn renewed(granted: &Granted, lease: Lease, layout: &Layout) -> Result<Grant, String> {
    let (now_ms, end_ms) = times(granted, layout)?;
    if end_ms < lease.end_ms {
        return Err(format!(
            "answered end {end_ms}; expected none before {}, the end that was confirmed before",
            lease.end_ms
        ));
    }
    Ok(Grant { lease: Lease { end_ms, ..lease }, now_ms, term: Term::Renewable, usage: None })
}

/// `now` and `end` in whole milliseconds: a lease never reaches past either.
fn times(granted: &Granted, layout: &Layout) -> Result<(u64, u64), String> {
    let (from, to) = (layout.epoch_ms(), layout.end_unix_ms());
    let within = |name: &str, found: f64| {
        whole(found.floor(), from, to - 1).ok_or_else(|| {
            format!("answered {name} {found}; expected milliseconds since 1970 within the layout: {from} to {}", to - 1)
        })
    };
    let (now_ms, end_ms) = (within("now", granted.now_ms)?, within("end", granted.end_ms)?);
    if end_ms <= now_ms + 1 {
        return Err(format!("answered end {end_ms}; expected one after now, which it says is {now_ms}"));
    }
    Ok((now_ms, end_ms))
}

/// An integer from `least` to `most`.
fn whole(found: f64, least: u64, most: u64) -> Option<u64> {
    let integer = found as u64;
    (found >= 0.0 && found.fract() == 0.0 && (least..=most).contains(&integer)).then_some(integer)
}

/// A token as the functions see it: a UUID's text.
pub(super) fn token_text(token: Token) -> String {
    let hex = format!("{:032x}", u128::from_be_bytes(token.0));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Only the text that [`token_text`] writes, in either case: what is handed back later must be the same.
fn parse_token(text: &str) -> Option<Token> {
    let hex: String = text.chars().filter(|c| *c != '-').collect();
    let token = u128::from_str_radix(&hex, 16).ok().map(|number| Token(number.to_be_bytes()))?;
    token_text(token).eq_ignore_ascii_case(text).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: f64 = 1_764_500_000_000.0;
    const OFFERED: Token = Token([0x11; 16]);

    fn granted() -> Granted {
        Granted { machine: Some(3.0), now_ms: NOW_MS, end_ms: NOW_MS + 60_000.0, ..Granted::default() }
    }

    fn acquire(granted: &Granted) -> Result<Grant, String> {
        acquired(granted, OFFERED, MachineIds { first: 2, last: 5 }, &Layout::DEFAULT)
    }

    #[test]
    fn a_lease_lies_between_the_whole_milliseconds_after_now_and_before_end() {
        let half = Granted { now_ms: NOW_MS + 0.9, end_ms: NOW_MS + 100.9, ..granted() };
        let lease = acquire(&half).unwrap().lease;
        let now_ms = NOW_MS as u64;
        assert_eq!((lease.machine, lease.start_ms, lease.end_ms), (3, now_ms + 1, now_ms + 100));
        assert_eq!(lease.token, OFFERED);
    }

    #[test]
    fn a_token_of_the_answers_own_counts() {
        let own = "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6";
        let lease = acquire(&Granted { token: Some(own.into()), ..granted() }).unwrap().lease;
        assert_eq!(token_text(lease.token), own.to_lowercase());
    }

    #[test]
    fn what_an_acquire_must_not_answer_is_refused_with_what_was_expected() {
        let with = |change: fn(&mut Granted)| {
            let mut granted = granted();
            change(&mut granted);
            granted
        };
        let refused = [
            (with(|it| it.machine = None), "machineId NaN; expected an integer from 2 to 5"),
            (with(|it| it.machine = Some(1.0)), "machineId 1;"),
            (with(|it| it.machine = Some(6.0)), "machineId 6;"),
            (with(|it| it.machine = Some(2.5)), "machineId 2.5;"),
            (with(|it| it.machine = Some(-1.0)), "machineId -1;"),
            (with(|it| it.token = Some(String::new())), "a token that is none"),
            (with(|it| it.token = Some("a".repeat(32))), "a token that is none"),
            (with(|it| it.token = Some("+81d4fae-7dec-11d0-a765-00a0c91e6bf6".into())), "a token that is none"),
            (with(|it| it.now_ms /= 1000.0), "now 1764500000; expected milliseconds since 1970 within the layout"),
            (with(|it| it.now_ms *= 1000.0), "now 1764500000000000;"),
            (with(|it| it.now_ms = f64::NAN), "now NaN;"),
            (with(|it| it.now_ms = -1.0), "now -1;"),
            (with(|it| it.end_ms = f64::INFINITY), "end inf;"),
            (with(|it| it.end_ms = 60_000.0), "end 60000;"),
            (with(|it| it.end_ms = NOW_MS - 1.0), "end 1764499999999; expected one after now"),
            (with(|it| it.end_ms = NOW_MS + 1.5), "end 1764500000001; expected one after now"),
            (with(|it| it.leased = Some(5.0)), "leased 5; expected an integer from 1 to 4"),
            (with(|it| it.leased = Some(0.0)), "leased 0;"),
        ];
        for (granted, says) in refused {
            let what = acquire(&granted).unwrap_err();
            assert!(what.contains(says), "{what}");
            assert!(!what.contains("81d4fae"), "a token was shown: {what}");
        }
    }

    #[test]
    fn a_renewal_that_shortens_is_none() {
        let lease = acquire(&granted()).unwrap().lease;
        let renew = |by_ms| {
            let end_ms = NOW_MS + 60_000.0 + by_ms;
            renewed(&Granted { now_ms: NOW_MS + 1000.0, end_ms, ..Granted::default() }, lease, &Layout::DEFAULT)
        };
        assert_eq!(renew(0.0).unwrap().lease, lease);
        assert_eq!(renew(5.5).unwrap().lease, Lease { end_ms: lease.end_ms + 5, ..lease });
        let what = renew(-1.0).unwrap_err();
        assert!(what.contains("expected none before 1764500060000"), "{what}");
    }
}
