//! The directory: where it is, whether it will do, and which layout its namespace was made with.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::file::trouble;
use crate::error::{Code, Error, shown};
use crate::layout::Layout;

/// What `'local'` needs to know of the process's surroundings.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `$XDG_STATE_HOME`.
    pub state_home: Option<PathBuf>,
    /// `$HOME`, or on Windows `%LOCALAPPDATA%`.
    pub home: Option<PathBuf>,
    /// Whether this is a container, whose files other containers of the host do not see.
    pub container: bool,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let marked = ["/.dockerenv", "/run/.containerenv"].iter().any(|mark| Path::new(mark).exists());
        let named = ["KUBERNETES_SERVICE_HOST", "container"].iter().any(|name| std::env::var_os(name).is_some());
        Self {
            state_home: path("XDG_STATE_HOME"),
            home: if cfg!(windows) { path("LOCALAPPDATA") } else { path("HOME") },
            container: marked || named,
        }
    }
}

/// The directory of `'local'`: `mintid` in the user's state directory (XDG Base Directory Specification 0.8).
///
/// # Errors
/// `CONFIG` with option `coordinator` inside a container or without a home: there the directory must be named, since a
/// default would be private to this process's container or user, and unique among nobody.
pub fn default_directory(surroundings: &Surroundings) -> Result<PathBuf, Error> {
    let refuse = |why: &str| {
        let text = format!(
            "coordinator: 'local' needs a directory by name here, since {why}: use 'file:///a/directory' that all processes share"
        );
        Err(Error::config("coordinator", text))
    };
    match surroundings {
        Surroundings { container: true, .. } => refuse("this is a container"),
        Surroundings { state_home: Some(state), .. } => Ok(state.join("mintid")),
        Surroundings { home: Some(home), .. } if cfg!(windows) => Ok(home.join("mintid")),
        Surroundings { home: Some(home), .. } => Ok(home.join(".local/state/mintid")),
        Surroundings { .. } => refuse("there is no home directory"),
    }
}

/// Makes the directory of a namespace, or checks that it was made for the same layout.
pub(super) fn prepare(directory: &Path, layout: &Layout) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|error| trouble("make", directory, &error))?;
    refuse_network(directory)?;
    let (path, ours) = (directory.join("layout"), render(layout));
    let found = match fs::read(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            write_once(&path, &ours)?;
            fs::read(&path).map_err(|error| trouble("read", &path, &error))?
        }
        Err(error) => return Err(trouble("read", &path, &error)),
    };
    let found = String::from_utf8_lossy(&found);
    if found == ours { Ok(()) } else { Err(other_layout(directory, &found, &ours)) }
}

/// Puts a whole file where there is none. Of two processes that do this at once one wins, and nobody sees half of it.
fn write_once(path: &Path, text: &str) -> Result<(), Error> {
    let mut draft = NamedDraft::beside(path)?;
    let written = draft.file.write_all(text.as_bytes()).and_then(|()| draft.file.sync_data());
    written.map_err(|error| trouble("write", &draft.path, &error))?;
    match fs::hard_link(&draft.path, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(trouble("make", path, &error)),
        _ => Ok(()),
    }
}

/// A file with a name of its own, removed when dropped.
struct NamedDraft {
    file: File,
    path: PathBuf,
}

impl NamedDraft {
    fn beside(path: &Path) -> Result<Self, Error> {
        let name = getrandom::u64().map_err(|error| trouble("name a draft of", path, &io::Error::other(error)))?;
        let path = path.with_extension(format!("{name:016x}"));
        let file = File::create_new(&path).map_err(|error| trouble("make", &path, &error))?;
        Ok(Self { file, path })
    }
}

impl Drop for NamedDraft {
    fn drop(&mut self) {
        // What stays behind is never read.
        let _ = fs::remove_file(&self.path);
    }
}

fn other_layout(directory: &Path, found: &str, ours: &str) -> Error {
    let text = format!(
        "layout: {} was made with {}, this process has {}; take another namespace, or remove the directory when nothing uses it",
        directory.display(),
        shown(found.trim_end()),
        shown(ours.trim_end())
    );
    Error::config("layout", text)
}

fn render(layout: &Layout) -> String {
    format!(
        "mintid 1 layout {}/{}/{}/{} epoch {}\n",
        layout.partition_bits(),
        layout.time_bits(),
        layout.machine_bits(),
        layout.sequence_bits(),
        layout.epoch_ms()
    )
}

/// Refuses file systems that other hosts can have mounted too: their locks are each host's own, or late.
#[cfg(target_os = "linux")]
fn refuse_network(directory: &Path) -> Result<(), Error> {
    let found = rustix::fs::statfs(directory).map_err(|error| trouble("look at", directory, &error.into()))?;
    match network_name(u64::from(found.f_type as u32)) {
        None => Ok(()),
        Some(name) => {
            let text =
                format!("coordinator: {} lies on {name}, expected a file system of this host", directory.display());
            Err(Error::new(Code::Config, text).with(|fields| fields.option = Some("coordinator")))
        }
    }
}

/// Elsewhere the kinds cannot be told apart by number; the docs say what is assumed.
#[cfg(not(target_os = "linux"))]
fn refuse_network(_directory: &Path) -> Result<(), Error> {
    Ok(())
}

/// Linux's `statfs(2)` magic numbers of file systems that are shared between hosts.
#[cfg(target_os = "linux")]
fn network_name(magic: u64) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517B | 0xFF53_4D42 | 0xFE53_4D42 => "SMB",
        0x6573_5546 => "FUSE",
        0x0102_1997 => "9P",
        0x5346_414F => "AFS",
        0x00C3_6400 => "Ceph",
        0x0116_1970 => "GFS2",
        0x7461_636F => "OCFS2",
        0x0BD0_0BD0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x7375_7245 => "Coda",
        0x564C => "NCP",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(state: Option<&str>, home: Option<&str>, container: bool) -> Surroundings {
        Surroundings { state_home: state.map(PathBuf::from), home: home.map(PathBuf::from), container }
    }

    #[test]
    #[cfg(not(windows))]
    fn the_default_is_the_users_state_directory() {
        let at = |state, home| default_directory(&surroundings(state, home, false)).unwrap();
        assert_eq!(at(Some("/state"), Some("/home/u")), Path::new("/state/mintid"));
        assert_eq!(at(None, Some("/home/u")), Path::new("/home/u/.local/state/mintid"));
    }

    #[test]
    fn in_a_container_or_without_a_home_it_must_be_named() {
        for place in [surroundings(Some("/state"), Some("/home/u"), true), surroundings(None, None, false)] {
            assert_eq!(default_directory(&place).unwrap_err().fields().option, Some("coordinator"));
        }
    }

    #[test]
    fn a_namespace_keeps_its_layout() {
        let directory = tempfile::tempdir().unwrap();
        let namespace = directory.path().join("default");
        prepare(&namespace, &Layout::DEFAULT).unwrap();
        prepare(&namespace, &Layout::DEFAULT).unwrap();
        let other = Layout::new(0, 42, 10, 12, Layout::DEFAULT_EPOCH_MS).unwrap();
        let error = prepare(&namespace, &other).unwrap_err();
        assert_eq!((error.code(), error.fields().option), (Code::Config, Some("layout")));
        assert!(error.message().contains("layout 0/42/9/13 epoch 1735689600000"), "{}", error.message());
    }

    #[test]
    fn a_directory_that_cannot_be_made_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = prepare(&file.join("default"), &Layout::DEFAULT).unwrap_err();
        assert_eq!(error.code(), Code::Coordinator);
        assert_eq!(error.retry(), crate::error::Retry::Never);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn network_file_systems_are_told_by_their_magic_numbers() {
        assert_eq!(network_name(0x6969), Some("NFS"));
        assert_eq!(network_name(0xEF53), None, "ext4");
        assert_eq!(network_name(0x0102_1994), None, "tmpfs");
    }
}
