//! A PostgreSQL server of a test's own: started from nothing, on a free port and a Unix socket, gone with the process.

#![allow(dead_code, reason = "each test crate uses its own part of this")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

/// How a server is stopped.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    /// When its sessions have ended; meanwhile it lets nobody in.
    Smart,
    /// As an operator does.
    Fast,
    /// As a crash does: what is unlogged is gone afterwards.
    Immediate,
}

/// One server. Everybody on its socket's folder is a superuser as `postgres`; others as `pg_hba.conf` says.
pub(crate) struct Cluster {
    /// The port of `localhost`, and of the Unix socket.
    pub(crate) port: u16,
    folder: TempDir,
    programs: PathBuf,
    guard: Child,
}

impl Cluster {
    /// A new, running server with these lines in its `postgresql.conf`, and with these in `pg_hba.conf`.
    pub(crate) fn start(configuration: &[&str], access: &[&str]) -> Self {
        let cluster = Self::prepare();
        cluster.configure(configuration);
        cluster.let_in(access);
        cluster.launch();
        cluster
    }

    /// A new server that does not run yet.
    pub(crate) fn prepare() -> Self {
        let cluster = Self::new();
        cluster.run("initdb", &["-N", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-D", "data"]);
        cluster.configure(&[
            "fsync = off",
            "wal_level = replica",
            "max_wal_senders = 4",
            "listen_addresses = 'localhost'",
        ]);
        cluster.let_in(&[]);
        cluster
    }

    /// Gives it a certificate of its own, and the root of those that it accepts. It has to be restarted.
    pub(crate) fn secure(&self, cert: &str, key: &str, root: &str) {
        let (cert, root) = (self.write("server.crt", cert), self.write("root.crt", root));
        let key = self.write_key("server.key", key);
        let lines = ["ssl = on".to_owned(), format!("ssl_cert_file = '{cert}'"), format!("ssl_key_file = '{key}'")];
        self.configure(&lines.each_ref().map(String::as_str));
        self.configure(&[&format!("ssl_ca_file = '{root}'")]);
    }

    /// A running copy that follows this one.
    pub(crate) fn replica(&self) -> Self {
        let replica = Self::new();
        let (from, port) = (self.socket_folder(), self.port.to_string());
        replica.run(
            "pg_basebackup",
            &["-R", "-c", "fast", "-X", "stream", "-U", "postgres", "-h", &from, "-p", &port, "-D", "data"],
        );
        replica.launch();
        replica
    }

    fn new() -> Self {
        let programs = programs();
        let folder = tempfile::Builder::new().prefix("mintid-pg").tempdir().unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let guard = guard(&programs, folder.path());
        let cluster = Self { port, folder, programs, guard };
        if let Some((user, _)) = account() {
            std::os::unix::fs::chown(cluster.folder.path(), Some(user), None).unwrap();
        }
        cluster
    }

    /// Starts it, or starts it again.
    pub(crate) fn launch(&self) {
        let options = format!("-p {} -k {}", self.port, self.socket_folder());
        self.run("pg_ctl", &["start", "-w", "-s", "-D", "data", "-l", "log", "-o", &options]);
    }

    /// Stops it, and returns when it has stopped.
    pub(crate) fn stop(&self, mode: Mode) {
        self.run("pg_ctl", &["stop", "-w", "-s", "-D", "data", "-m", mode.name()]);
    }

    /// Tells it to stop, and returns at once.
    pub(crate) fn begin_to_stop(&self, mode: Mode) {
        self.run("pg_ctl", &["stop", "-W", "-s", "-D", "data", "-m", mode.name()]);
    }

    /// Stops it and starts it again.
    pub(crate) fn restart(&self, mode: Mode) {
        self.stop(mode);
        self.launch();
    }

    /// Makes a replica a primary.
    pub(crate) fn promote(&self) {
        self.run("pg_ctl", &["promote", "-w", "-s", "-D", "data"]);
    }

    /// Has it read its configuration again; `pg_ctl` returns before it has.
    pub(crate) fn reload(&self) {
        self.run("pg_ctl", &["reload", "-s", "-D", "data"]);
    }

    /// Adds lines to `postgresql.conf`; the last one of a name counts.
    pub(crate) fn configure(&self, lines: &[&str]) {
        let path = self.path("data/postgresql.conf");
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        writeln!(file, "{}", lines.join("\n")).unwrap();
    }

    /// Replaces `pg_hba.conf`, whose first lines let us in.
    pub(crate) fn let_in(&self, lines: &[&str]) {
        let ours = "local all postgres trust\nlocal replication postgres trust\n";
        fs::write(self.path("data/pg_hba.conf"), format!("{ours}{}\n", lines.join("\n"))).unwrap();
    }

    /// Writes a file that the server can read, and others may read too. Its path is the answer.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Writes a key as the server wants it: its own, and closed to others.
    pub(crate) fn write_key(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some((user, _)) = account() {
            std::os::unix::fs::chown(&path, Some(user), None).unwrap();
        }
        path
    }

    /// Runs statements as the superuser; what they return, unaligned.
    pub(crate) fn sql(&self, statements: &str) -> String {
        let (folder, port) = (self.socket_folder(), self.port.to_string());
        let arguments =
            ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-h", &folder, "-p", &port, "-c"];
        let output = self.run("psql", &[&arguments[..], &[statements]].concat());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// What the server has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// The folder of its Unix socket.
    pub(crate) fn socket_folder(&self) -> String {
        self.folder.path().to_string_lossy().into_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs one of its programs in its folder, not as root.
    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.programs.join(program));
        command.args(arguments).current_dir(self.folder.path()).env("LC_ALL", "C").stdin(Stdio::null());
        if let Some((user, group)) = account() {
            command.uid(user).gid(group);
        }
        // Into files: a pipe would be held open by the server that `pg_ctl` leaves behind.
        let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let status = command.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap()).status();
        let status = status.unwrap_or_else(|error| panic!("{program} {command:?}: {error}"));
        let output = Output { status, stdout: contents(out), stderr: contents(err) };
        let shown = String::from_utf8_lossy(&output.stderr);
        assert!(status.success(), "{program} {arguments:?}: {shown}\n{}", self.log());
        output
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The end of its input is what the guard waits for.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Smart => "smart",
            Self::Fast => "fast",
            Self::Immediate => "immediate",
        }
    }
}

/// Stops the server and removes its folder when this process ends, however it ends.
fn guard(programs: &Path, folder: &Path) -> Child {
    let script = r#"cat > /dev/null; "$0/pg_ctl" stop -s -w -m immediate -D "$1/data" 2> /dev/null; rm -rf "$1""#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(programs).arg(folder).current_dir("/").stdin(Stdio::piped()).stdout(Stdio::null());
    if let Some((user, group)) = account() {
        command.uid(user).gid(group);
    }
    // Its own group, so that the Ctrl-C that ends us does not end it.
    command.process_group(0).spawn().unwrap()
}

fn contents(mut file: fs::File) -> Vec<u8> {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Where the server's programs are: in the folder that `pg_config` tells, in Debian's newest one, or on the path.
fn programs() -> PathBuf {
    let told = Command::new("pg_config").arg("--bindir").output().ok();
    let told = told.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<_> = debian.map(|entry| entry.path().join("bin")).collect();
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut all = told.into_iter().chain(debian.into_iter().rev()).chain(std::env::split_paths(&path));
    let needed = ["initdb", "pg_ctl", "pg_basebackup", "psql"];
    let folder = all.find(|folder| needed.iter().all(|program| folder.join(program).exists()));
    folder.expect("PostgreSQL's server programs (initdb …); on Debian: apt-get install postgresql")
}

/// The user and the group to run it as, where we are root: PostgreSQL refuses to be.
fn account() -> Option<(u32, u32)> {
    static ACCOUNT: OnceLock<Option<(u32, u32)>> = OnceLock::new();
    *ACCOUNT.get_or_init(find_account)
}

fn find_account() -> Option<(u32, u32)> {
    let id = |arguments: &[&str]| {
        let output = Command::new("id").args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<u32>().ok()
    };
    if id(&["-u"]) != Some(0) {
        return None;
    }
    let account = id(&["-u", "postgres"]).zip(id(&["-g", "postgres"]));
    Some(account.expect("a user 'postgres', since a server does not run as root"))
}
