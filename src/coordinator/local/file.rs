//! The file of one machine ID: a lock, and the end of the last fence.
//!
//! Its first line is `mintid 1 <end>`, the end in 20 decimal digits (milliseconds since 1970); it is written in place with
//! one call and synced before the promise counts. An empty file was made and never used.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Retry};

/// An open and locked lease file. The lock is of the operating system's and goes with the handle.
pub(super) struct LeaseFile {
    file: File,
    path: PathBuf,
}

impl LeaseFile {
    /// Opens, or makes, and locks the file of `machine`; `None` if somebody holds it.
    pub(super) fn lock(directory: &Path, machine: u32) -> Result<Option<Self>, Error> {
        let path = directory.join(format!("{machine}{EXTENSION}"));
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = opened.map_err(|error| trouble("open", &path, &error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(trouble("lock", &path, &error)),
        }
        let locked = Self { file, path };
        // It may have been removed between opening and locking; then the name is somebody else's file by now.
        Ok(locked.check_in_place().is_ok().then_some(locked))
    }

    /// The end of the last fence, 0 for a new file, `None` if the file is not one of ours.
    pub(super) fn end_ms(&self) -> Result<Option<u64>, Error> {
        read(&self.file).map(|text| parse(&text)).map_err(|error| trouble("read", &self.path, &error))
    }

    /// Writes an end and waits until the disk has it.
    pub(super) fn promise(&self, end_ms: u64) -> Result<(), Error> {
        let write = |mut file: &File| {
            file.seek(SeekFrom::Start(0))?;
            file.write_all(render(end_ms).as_bytes())?;
            file.sync_data()
        };
        write(&self.file).map_err(|error| trouble("write", &self.path, &error))
    }

    /// Whether the locked file still is what its name leads to; a removed one protects nobody.
    pub(super) fn check_in_place(&self) -> Result<(), Error> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
            let ours = self.file.metadata().map(identity).map_err(|error| trouble("look at", &self.path, &error))?;
            if std::fs::metadata(&self.path).map(identity).ok() != Some(ours) {
                return Err(Error::new(Code::Coordinator, format!("{} was removed while in use", self.path.display())));
            }
        }
        Ok(())
    }

    /// Lets the next holder in, while others may still have a reference to this one.
    pub(super) fn unlock(&self) {
        // A failure leaves the lock to the handle's end, which drops it in any case.
        let _ = self.file.unlock();
    }
}

/// The ends that a directory's lease files tell, by machine ID. Without locks: good for an order to try, not for a fence.
pub(super) fn ends(directory: &Path) -> Result<HashMap<u32, u64>, Error> {
    let entries = std::fs::read_dir(directory).map_err(|error| trouble("list", directory, &error))?;
    let mut ends = HashMap::new();
    for entry in entries.flatten() {
        let Some(machine) = machine_of(&entry.file_name().to_string_lossy()) else { continue };
        let end_ms = File::open(entry.path()).and_then(|file| read(&file)).ok().and_then(|text| parse(&text));
        ends.insert(machine, end_ms.unwrap_or(u64::MAX));
    }
    Ok(ends)
}

/// The error for an operation on a path that failed; whether it can pass is up to what failed.
pub(super) fn trouble(verb: &str, path: &Path, error: &io::Error) -> Error {
    let retry = match error.kind() {
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotFound
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::IsADirectory => Retry::Never,
        _ => Retry::Soon,
    };
    let path = path.display().to_string();
    Error::new(Code::Coordinator, format!("cannot {verb} {path}: {error}"))
        .with(|fields| {
            fields.coordinator = Some(path);
            fields.hint = Some("the directory must be on this host and writable by this process".into());
        })
        .retry_as(retry)
}

const EXTENSION: &str = ".lease";
const MAGIC: &str = "mintid 1 ";
const DIGITS: usize = 20;

fn render(end_ms: u64) -> String {
    format!("{MAGIC}{end_ms:0DIGITS$}\n")
}

fn parse(text: &str) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    let digits = text.strip_prefix(MAGIC)?.strip_suffix('\n')?;
    if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

fn machine_of(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(EXTENSION)?;
    digits.parse().ok().filter(|machine: &u32| machine.to_string() == digits)
}

fn read(mut file: &File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(256).read_to_end(&mut bytes)?;
    // What is not text is not ours either.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for end_ms in [0, 1, 1_764_500_000_000, u64::MAX] {
            assert_eq!(parse(&render(end_ms)), Some(end_ms));
        }
        assert_eq!(parse(""), Some(0));
    }

    #[test]
    fn what_is_not_ours_is_not_read() {
        for text in [
            "x",
            "mintid 1 12\n",
            "mintid 2 00000001764500000000\n",
            "mintid 1 99999999999999999999\n",
            "mintid 1 00000001764500000000",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_lease_files_name_machine_ids() {
        assert_eq!(machine_of("7.lease"), Some(7));
        for name in ["layout", "07.lease", "+7.lease", "-1.lease", ".lease", "7.lease~"] {
            assert_eq!(machine_of(name), None, "{name}");
        }
    }

    #[test]
    fn a_held_file_is_not_locked_twice_and_a_removed_one_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let first = LeaseFile::lock(directory.path(), 3).unwrap().unwrap();
        assert!(LeaseFile::lock(directory.path(), 3).unwrap().is_none());
        first.promise(42).unwrap();
        assert_eq!(first.end_ms().unwrap(), Some(42));
        std::fs::remove_file(directory.path().join("3.lease")).unwrap();
        assert_eq!(first.check_in_place().unwrap_err().code(), Code::Coordinator);
        drop(first);
        assert!(LeaseFile::lock(directory.path(), 3).unwrap().is_some());
    }
}
