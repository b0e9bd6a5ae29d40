//! What the coordinator on a directory does beyond the contract: real processes that are killed, files that are not
//! ours, directories that will not do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use mintid::clock::{Clock, ManualClock};
use mintid::coordinator::local::Local;
use mintid::coordinator::{Coordinator, Grant, MachineIds, Renewal, Term};
use mintid::error::{Code, Error, Retry};
use mintid::layout::Layout;
use mintid::nonce::{Extend, Loss};
use support::bench::wait;
use support::{HOUR_MS, T0_MS};
use tempfile::{TempDir, tempdir};

const TTL: Duration = Duration::from_secs(300);

/// A coordinator for the machine IDs `0..n`, at `T0_MS`.
fn local(directory: &Path, n: u32) -> Local {
    local_at(directory, n, Arc::new(ManualClock::at(T0_MS)))
}

fn local_at(directory: &Path, n: u32, clock: Arc<dyn Clock>) -> Local {
    let machine_ids = MachineIds::new(&Layout::DEFAULT, Some((0, n - 1))).unwrap();
    Local::new(directory, "default", machine_ids, Layout::DEFAULT, clock)
}

fn acquire(local: &Local) -> Result<Grant, Error> {
    wait(local.acquire(TTL))
}

fn code(result: Result<Grant, Error>) -> Code {
    result.expect_err("expected an error").code()
}

fn hold(grant: &Grant) -> Arc<dyn Extend> {
    match &grant.term {
        Term::WhileHeld(hold) => Arc::clone(hold),
        other => panic!("expected a lease that is held, found {other:?}"),
    }
}

fn lease_file(directory: &Path, machine: u32) -> PathBuf {
    directory.join("default").join(format!("{machine}.lease"))
}

mod a_killed_process {
    use super::*;

    const DIRECTORY: &str = "MINTID_TEST_HOLD";

    /// Not a test: the process that is killed. It tells what it holds and then waits for its parent.
    #[test]
    #[ignore = "started by the tests beside it"]
    fn holder() {
        let Some(directory) = std::env::var_os(DIRECTORY) else { return };
        let local = local(Path::new(&directory), 1);
        let grant = acquire(&local).unwrap();
        let end_ms = hold(&grant).extend(grant.lease.end_ms + 5000).unwrap();
        println!("\nholds {end_ms}");
        stdin().read_to_end(&mut Vec::new()).unwrap();
    }

    /// A process that holds machine ID 0, and the end that it was promised.
    fn spawn_holder(directory: &Path) -> (Child, u64) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["a_killed_process::holder", "--exact", "--ignored", "--nocapture"])
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let end_ms = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("holds ")?.parse().ok());
        (child, end_ms.expect("the holder got no lease"))
    }

    fn frees_its_id_at_once_with_the_wall_clock_off_by(step_ms: i64) {
        let directory = tempdir().unwrap();
        let (mut child, end_ms) = spawn_holder(directory.path());
        let clock = Arc::new(ManualClock::at(T0_MS.saturating_add_signed(step_ms)));
        let next = local_at(directory.path(), 1, clock);
        assert_eq!(code(acquire(&next)), Code::Exhausted, "the holder lives");
        child.kill().unwrap();
        child.wait().unwrap();
        let lease = acquire(&next).expect("the holder is dead").lease;
        assert_eq!(lease.machine, 0);
        assert!(lease.start_ms >= end_ms, "starts at {}, promised until {end_ms}", lease.start_ms);
    }

    #[test]
    fn frees_its_id_at_once() {
        frees_its_id_at_once_with_the_wall_clock_off_by(0);
    }

    #[test]
    fn frees_its_id_at_once_also_when_the_wall_clock_went_back_an_hour() {
        frees_its_id_at_once_with_the_wall_clock_off_by(-HOUR_MS);
    }

    #[test]
    fn frees_its_id_at_once_also_when_the_wall_clock_went_forward_an_hour() {
        frees_its_id_at_once_with_the_wall_clock_off_by(HOUR_MS);
    }
}

mod a_hold {
    use super::*;

    #[test]
    fn is_not_shared_by_two_coordinators_of_one_process() {
        let directory = tempdir().unwrap();
        let [one, other] = [local(directory.path(), 1), local(directory.path(), 1)];
        let grant = acquire(&one).unwrap();
        assert_eq!(code(acquire(&other)), Code::Exhausted);
        wait(one.release(&grant.lease, grant.lease.start_ms)).unwrap();
        acquire(&other).expect("given back");
    }

    #[test]
    fn moves_its_end_on_after_a_pause_of_any_length_and_never_back() {
        let directory = tempdir().unwrap();
        let local = local(directory.path(), 1);
        let grant = acquire(&local).unwrap();
        let later_ms = T0_MS + 24 * HOUR_MS as u64;
        let end_ms = hold(&grant).extend(later_ms).unwrap();
        assert!(end_ms > later_ms);
        assert_eq!(hold(&grant).extend(T0_MS), Ok(end_ms), "promised is promised");
        let Renewal::Granted(renewed) = wait(local.renew(&grant.lease, TTL)) else { panic!("not renewed") };
        assert_eq!(renewed.lease.end_ms, end_ms);
        drop((local, grant, renewed));
        let next = acquire(&super::local(directory.path(), 1)).unwrap();
        assert!(next.lease.start_ms >= end_ms, "the end stands on the disk before it is promised");
    }

    #[test]
    fn promises_nothing_once_it_was_given_back() {
        let directory = tempdir().unwrap();
        let local = local(directory.path(), 1);
        let grant = acquire(&local).unwrap();
        wait(local.release(&grant.lease, grant.lease.start_ms)).unwrap();
        let before = fs::read(lease_file(directory.path(), 0)).unwrap();
        let error = hold(&grant).extend(grant.lease.end_ms + 1000).unwrap_err();
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Never), "{error}");
        assert_eq!(fs::read(lease_file(directory.path(), 0)).unwrap(), before, "the file is the next holder's");
    }

    #[test]
    fn notices_that_its_file_was_removed() {
        let directory = tempdir().unwrap();
        let local = local(directory.path(), 1);
        let grant = acquire(&local).unwrap();
        fs::remove_file(lease_file(directory.path(), 0)).unwrap();
        let error = hold(&grant).extend(grant.lease.end_ms).unwrap_err();
        assert_eq!(error.code(), Code::Coordinator);
        assert!(error.message().contains("removed"), "{error}");
        let renewal = wait(local.renew(&grant.lease, TTL));
        assert!(matches!(renewal, Renewal::Lost(Loss::Rejected)), "{renewal:?}");
        acquire(&local).expect("a new file is as good as any");
    }

    #[test]
    fn notices_that_its_file_was_replaced() {
        let directory = tempdir().unwrap();
        let local = local(directory.path(), 1);
        let grant = acquire(&local).unwrap();
        let path = lease_file(directory.path(), 0);
        fs::copy(&path, path.with_extension("copy")).unwrap();
        fs::rename(path.with_extension("copy"), &path).unwrap();
        hold(&grant).extend(grant.lease.end_ms).expect_err("the name leads to another file");
    }

    #[test]
    fn that_was_lost_keeps_nobody_out() {
        let directory = tempdir().unwrap();
        let local = local(directory.path(), 1);
        let grant = acquire(&local).unwrap();
        let (path, aside) = (lease_file(directory.path(), 0), directory.path().join("aside"));
        fs::rename(&path, &aside).unwrap();
        assert!(matches!(wait(local.renew(&grant.lease, TTL)), Renewal::Lost(_)));
        fs::rename(&aside, &path).unwrap();
        acquire(&super::local(directory.path(), 1)).expect("whoever lost a lease holds no lock of it");
    }
}

mod a_file_that_is_not_ours {
    use super::*;

    /// A directory in whose place for machine ID 0 stands something else.
    fn with_foreign(content: &[u8]) -> TempDir {
        let directory = tempdir().unwrap();
        fs::create_dir(directory.path().join("default")).unwrap();
        fs::write(lease_file(directory.path(), 0), content).unwrap();
        directory
    }

    fn is_skipped(content: &[u8]) {
        let directory = with_foreign(content);
        let local = local(directory.path(), 2);
        assert_eq!(acquire(&local).unwrap().lease.machine, 1);
        assert_eq!(
            acquire(&local).map(|grant| grant.lease.machine).map_err(|error| error.code()),
            Err(Code::Exhausted)
        );
        assert_eq!(fs::read(lease_file(directory.path(), 0)).unwrap(), content, "and left as it is");
    }

    #[test]
    fn is_skipped_if_it_is_text() {
        is_skipped(b"a shopping list\n");
    }

    #[test]
    fn is_skipped_if_it_is_a_later_version() {
        is_skipped(b"mintid 2 00000001764500000000\n");
    }

    #[test]
    fn is_skipped_if_it_was_cut_off() {
        is_skipped(b"mintid 1 0000000176450000");
    }

    #[test]
    fn is_skipped_if_it_is_binary() {
        is_skipped(&[0xFF, 0xFE, 0x00, 0x80]);
    }

    #[test]
    fn is_as_good_as_new_if_it_is_empty() {
        let directory = with_foreign(b"");
        assert_eq!(acquire(&local(directory.path(), 1)).unwrap().lease.machine, 0);
    }
}

mod a_directory {
    use super::*;

    fn refused(directory: &Path) {
        let error = acquire(&local(directory, 1)).unwrap_err();
        assert_eq!((error.code(), error.retry()), (Code::Coordinator, Retry::Never), "{error}");
        assert!(error.fields().coordinator.is_some(), "which directory");
        assert!(error.fields().hint.is_some(), "what to do");
    }

    #[test]
    fn that_is_a_file_is_refused() {
        let directory = tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        refused(&file);
        refused(&file.join("below"));
    }

    #[test]
    fn whose_namespace_is_a_file_is_refused() {
        let directory = tempdir().unwrap();
        fs::write(directory.path().join("default"), "").unwrap();
        refused(directory.path());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn that_nobody_can_write_to_is_refused() {
        // Not even root makes directories here.
        refused(Path::new("/proc/mintid"));
    }

    #[test]
    fn that_was_made_for_another_layout_is_refused() {
        let directory = tempdir().unwrap();
        acquire(&local(directory.path(), 1)).unwrap();
        for other in [
            Layout::new(0, 42, 10, 12, Layout::DEFAULT_EPOCH_MS).unwrap(),
            Layout::new(0, 42, 9, 13, Layout::DEFAULT_EPOCH_MS + 1).unwrap(),
        ] {
            let namespace = |name: &str| {
                let machine_ids = MachineIds::new(&other, None).unwrap();
                Local::new(directory.path(), name, machine_ids, other, Arc::new(ManualClock::at(T0_MS)))
            };
            let error = acquire(&namespace("default")).unwrap_err();
            assert_eq!((error.code(), error.fields().option), (Code::Config, Some("layout")), "{error}");
            acquire(&namespace(&format!("epoch {}", other.epoch_ms()))).expect("another namespace is free to differ");
        }
    }

    #[test]
    fn holds_several_namespaces() {
        let directory = tempdir().unwrap();
        let machine_ids = MachineIds::new(&Layout::DEFAULT, Some((0, 0))).unwrap();
        let clock = Arc::new(ManualClock::at(T0_MS));
        let locals =
            ["a", "b"].map(|name| Local::new(directory.path(), name, machine_ids, Layout::DEFAULT, clock.clone()));
        let grants = locals.each_ref().map(|local| acquire(local).unwrap());
        assert_eq!(grants.map(|grant| grant.lease.machine), [0, 0]);
    }

    #[test]
    fn is_made_with_all_that_is_missing_above_it() {
        let directory = tempdir().unwrap();
        acquire(&local(&directory.path().join("not/there/yet"), 1)).unwrap();
    }
}

#[test]
fn a_time_outside_the_layout_is_refused_and_holds_nothing() {
    let directory = tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(0));
    let local = local_at(directory.path(), 1, clock.clone());
    for wall_ms in [0, Layout::DEFAULT_EPOCH_MS - 1, Layout::DEFAULT.end_unix_ms()] {
        clock.set_wall_ms(wall_ms);
        assert_eq!(code(acquire(&local)), Code::Time, "{wall_ms}");
    }
    clock.set_wall_ms(T0_MS);
    acquire(&local).expect("nobody got it yet");
}
