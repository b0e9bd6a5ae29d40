//! Those who wait for a lease, each with a deadline of its own.

use super::state::Asking;
use crate::clock::Tick;
use crate::error::{Code, Error, Retry};

/// Called once with the outcome of a wait.
pub type Reply = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// Which handle of the process something belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u64);

/// One who waits.
pub(super) struct Waiter {
    pub(super) owner: Owner,
    pub(super) since: Tick,
    pub(super) deadline: Option<Tick>,
    pub(super) reply: Reply,
}

/// All who wait.
#[derive(Default)]
pub(super) struct Waiters {
    waiting: Vec<Waiter>,
}

impl Waiters {
    pub(super) fn add(&mut self, waiter: Waiter) {
        self.waiting.push(waiter);
    }

    /// The first deadline.
    pub(super) fn next_deadline(&self) -> Option<Tick> {
        self.waiting.iter().filter_map(|waiter| waiter.deadline).min()
    }

    /// Gives everybody the same answer.
    pub(super) fn settle(&mut self, result: &Result<(), Error>) {
        for waiter in self.waiting.drain(..) {
            (waiter.reply)(result.clone());
        }
    }

    /// Tells the waiters of one handle that it is closed.
    pub(super) fn cancel(&mut self, owner: Owner) {
        for waiter in self.waiting.extract_if(.., |waiter| waiter.owner == owner) {
            (waiter.reply)(Err(Error::new(Code::Closed, "the wait for a lease was given up")));
        }
    }

    /// Gives up for those whose deadline has passed.
    pub(super) fn expire(&mut self, now: Tick, asking: Option<&Asking>) {
        let late = |waiter: &mut Waiter| waiter.deadline.is_some_and(|deadline| deadline <= now);
        for waiter in self.waiting.extract_if(.., late) {
            let waited = now.since(waiter.since).as_millis();
            (waiter.reply)(Err(gave_up(waited, asking)));
        }
    }
}

/// A clear answer of the coordinator's stands for itself; anything else is a timeout with a cause.
fn gave_up(waited_ms: u128, asking: Option<&Asking>) -> Error {
    let (asked, last_error) = asking.map_or((0, None), |asking| (asking.asked, asking.last_error.clone()));
    match last_error {
        Some(error) if error.retry() == Retry::Later => error,
        last_error => {
            let text = format!("no lease in {waited_ms} ms; attempts: {asked}");
            let error = Error::new(Code::AcquireTimeout, text).with(|fields| fields.attempts = Some(asked));
            match last_error {
                Some(cause) => error.caused_by(cause),
                None => error,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::lease::event::Source;

    fn waiter(owner: u64, deadline: u64) -> (Waiter, mpsc::Receiver<Result<(), Error>>) {
        let (sender, receiver) = mpsc::channel();
        let reply: Reply = Box::new(move |result| sender.send(result).unwrap());
        (Waiter { owner: Owner(owner), since: Tick(0), deadline: Some(Tick(deadline)), reply }, receiver)
    }

    fn asking(last_error: Error) -> Asking {
        Asking { source: Source::Initial, sent: Tick(0), asked: 3, failed: 3, last_error: Some(last_error) }
    }

    #[test]
    fn only_those_past_their_deadline_give_up() {
        let mut waiters = Waiters::default();
        let ((first, early), (second, late)) = (waiter(1, 10), waiter(2, 20));
        waiters.add(first);
        waiters.add(second);
        assert_eq!(waiters.next_deadline(), Some(Tick(10)));
        let cause = Error::new(Code::Coordinator, "no answer").retry_as(Retry::Soon);
        waiters.expire(Tick(10), Some(&asking(cause.clone())));
        let error = early.try_recv().unwrap().unwrap_err();
        assert_eq!(
            (error.code(), error.fields().attempts, error.cause()),
            (Code::AcquireTimeout, Some(3), Some(&cause))
        );
        assert!(late.try_recv().is_err());
        waiters.settle(&Ok(()));
        assert_eq!(late.try_recv(), Ok(Ok(())));
    }

    #[test]
    fn a_clear_answer_is_given_as_it_is() {
        let mut waiters = Waiters::default();
        let (one, answer) = waiter(1, 10);
        waiters.add(one);
        waiters.expire(Tick(11), Some(&asking(Error::new(Code::Exhausted, "all are leased"))));
        assert_eq!(answer.try_recv().unwrap().unwrap_err().code(), Code::Exhausted);
    }

    #[test]
    fn cancelling_reaches_one_owner_alone() {
        let mut waiters = Waiters::default();
        let ((first, one), (second, other)) = (waiter(1, 10), waiter(2, 10));
        waiters.add(first);
        waiters.add(second);
        waiters.cancel(Owner(1));
        assert_eq!(one.try_recv().unwrap().unwrap_err().code(), Code::Closed);
        assert!(other.try_recv().is_err());
    }
}
