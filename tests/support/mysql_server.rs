//! MySQL and MariaDB servers of a test's own: started from nothing, on free ports and Unix sockets, gone with the process.

#![allow(dead_code, reason = "each test crate uses its own part of this")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a server may take to do what it was told; never waited for in full.
const LONG: Duration = Duration::from_secs(60);

/// One server, in a folder of its own. Everybody on its socket is `root`.
pub(crate) struct Server {
    /// The port of `localhost`.
    pub(crate) port: u16,
    folder: TempDir,
    running: Mutex<Option<Running>>,
}

/// A server, and what ends it when this process ends, however it ends.
struct Running {
    server: Child,
    guard: Child,
}

/// Small and quick; nothing has to survive the machine.
const CONFIGURATION: &str = "[server]
user = root
skip-name-resolve
bind-address = 127.0.0.1
pid-file = mysqld.pid
log-error = log
innodb-buffer-pool-size = 16M
innodb-flush-method = fsync
performance-schema = ON
";

impl Server {
    /// A new, running server with these lines in its configuration, and a database `test`.
    pub(crate) fn start(configuration: &[&str]) -> Self {
        let server = Self::prepare();
        server.configure(configuration);
        server.launch();
        server.sql("create database if not exists test");
        server
    }

    /// A new server that does not run yet.
    pub(crate) fn prepare() -> Self {
        let folder = tempfile::Builder::new().prefix("mintid-sql").tempdir().unwrap();
        let copied = Command::new("cp").arg("-a").arg(template().join("data")).arg(folder.path()).status();
        assert!(copied.unwrap().success());
        fs::create_dir(folder.path().join("tmp")).unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let server = Self { port, folder, running: Mutex::default() };
        server.configure(&[
            CONFIGURATION,
            &format!("datadir = {}", server.path("data").display()),
            // A MariaDB that starts removes the temporary tables of all others that have the same folder for them.
            &format!("tmpdir = {}", server.path("tmp").display()),
            &format!("socket = {}", server.socket()),
            &format!("port = {port}"),
        ]);
        server.configure(if is_mariadb() {
            &[]
        } else {
            &["mysqlx = OFF", "disable-log-bin", "secure-file-priv = NULL"]
        });
        server
    }

    /// Gives it a certificate, and the root of those that it accepts. It has to be started again.
    pub(crate) fn secure(&self, cert: &str, key: &str, root: &str) {
        let (cert, key) = (self.write("server.crt", cert), self.write("server.key", key));
        let root = self.write("root.crt", root);
        self.configure(&[&format!("ssl-cert = {cert}"), &format!("ssl-key = {key}"), &format!("ssl-ca = {root}")]);
    }

    /// Starts it, or starts it again, and returns when it answers.
    pub(crate) fn launch(&self) {
        let mut command = Command::new(program(&["mariadbd", "mysqld"]));
        command
            .arg(format!("--defaults-file={}", self.path("cnf").display()))
            .args((!is_mariadb()).then_some("--basedir=/usr"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Its own group, so that a Ctrl-C ends us before it ends the server.
        let server = command.current_dir(self.folder.path()).process_group(0).spawn().unwrap();
        let guard = guard(&format!("kill -9 {}; ", server.id()), self.folder.path());
        *self.running.lock().unwrap() = Some(Running { server, guard });
        self.wait("to answer", || self.runs() && self.try_sql("do 0").status.success());
    }

    /// Stops it as an operator does.
    pub(crate) fn stop(&self) {
        self.signal("TERM");
        self.reap();
    }

    /// Stops it as a crash does.
    pub(crate) fn kill(&self) {
        self.signal("KILL");
        self.reap();
    }

    /// Stops it from answering, until `resume`.
    pub(crate) fn pause(&self) {
        self.signal("STOP");
        let pid = self.running.lock().unwrap().as_ref().expect("a server that runs").server.id();
        let stopped = || fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") T "));
        self.wait("to stop", || !Path::new("/proc/self/stat").exists() || stopped());
    }

    /// Waits until it has run for as long as a registry wants a server to run.
    pub(crate) fn settle(&self) {
        let schema = if is_mariadb() { "information_schema" } else { "performance_schema" };
        self.wait_for(
            &format!("select variable_value > 1 from {schema}.global_status where variable_name = 'UPTIME'"),
            "1",
        );
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    /// Adds lines to its configuration; the last one of a name counts. It has to be started again.
    pub(crate) fn configure(&self, lines: &[&str]) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.path("cnf")).unwrap();
        writeln!(file, "{}", lines.join("\n")).unwrap();
    }

    /// Writes a file beside its data. Its path is the answer.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Runs statements as `root`; what they answer, one line a row.
    pub(crate) fn sql(&self, statements: &str) -> String {
        let output = self.try_sql(statements);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{statements}: {said}\n{}", self.log());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs a statement until its answer is this one.
    pub(crate) fn wait_for(&self, statement: &str, answer: &str) {
        self.wait(answer, || String::from_utf8_lossy(&self.try_sql(statement).stdout).trim() == answer);
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("data/log")).unwrap_or_default()
    }

    /// Its Unix socket.
    pub(crate) fn socket(&self) -> String {
        self.path("sock").to_string_lossy().into_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_sql(&self, statements: &str) -> Output {
        if UnixStream::connect(self.socket()).is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut client = Command::new(program(&["mariadb", "mysql"]));
        client.args(["--no-defaults", if is_mariadb() { "--skip-ssl" } else { "--ssl-mode=DISABLED" }]);
        client.args(["-u", "root", "-N", "-B", "-S", &self.socket(), "-e", statements]);
        client.stdin(Stdio::null()).output().unwrap()
    }

    fn runs(&self) -> bool {
        let ended = self.running.lock().unwrap().as_mut().and_then(|running| running.server.try_wait().unwrap());
        assert!(ended.is_none(), "{}", self.log());
        true
    }

    fn signal(&self, name: &str) {
        let pid = self.running.lock().unwrap().as_ref().expect("a server that runs").server.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    fn reap(&self) {
        if let Some(Running { mut server, mut guard }) = self.running.lock().unwrap().take() {
            server.wait().unwrap();
            guard.kill().unwrap();
            guard.wait().unwrap();
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a server runs by the machine's clock")]
    fn wait(&self, what: &str, mut done: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < LONG, "waited for {what}\n{}", self.log());
            std::thread::yield_now();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = self.running.lock().unwrap().as_mut() {
            let _ = running.server.kill();
        }
        self.reap();
    }
}

/// Whether the servers are MariaDB's.
pub(crate) fn is_mariadb() -> bool {
    version().contains("MariaDB")
}

/// What the servers say of themselves.
pub(crate) fn version() -> &'static str {
    static VERSION: OnceLock<String> = OnceLock::new();
    VERSION.get_or_init(|| {
        let output = Command::new(program(&["mariadbd", "mysqld"])).arg("--version").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    })
}

/// Data of a server that nobody has used yet, made once a process.
fn template() -> &'static Path {
    static TEMPLATE: OnceLock<(TempDir, Child)> = OnceLock::new();
    let (folder, _) = TEMPLATE.get_or_init(|| {
        let folder = tempfile::Builder::new().prefix("mintid-sql").tempdir().unwrap();
        let guard = guard("", folder.path());
        let data = format!("--datadir={}", folder.path().join("data").display());
        let mut command = if is_mariadb() {
            let mut command = Command::new(program(&["mariadb-install-db", "mysql_install_db"]));
            command.args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--user=root",
            ]);
            command.args(["--skip-name-resolve", "--innodb-log-file-size=8M"]);
            command
        } else {
            let mut command = Command::new(program(&["mysqld"]));
            command.args(["--no-defaults", "--initialize-insecure", "--basedir=/usr", "--user=root"]);
            command.arg("--innodb-redo-log-capacity=8388608");
            command
        };
        command.env("TMPDIR", folder.path());
        let output = command.arg(data).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // What tells a server from its copy.
        let _ = fs::remove_file(folder.path().join("data/auto.cnf"));
        (folder, guard)
    });
    folder.path()
}

/// Ends what has to be ended and removes a folder when this process ends, however it ends.
fn guard(end: &str, folder: &Path) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", &format!(r#"cat > /dev/null; {end}rm -rf "$0""#)]).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

/// The first of the server's programs that is there: in the folder in `MINTID_TEST_MYSQL_BIN`, or on the path.
fn program(names: &[&str]) -> PathBuf {
    let folders = match std::env::var_os("MINTID_TEST_MYSQL_BIN") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect(),
    };
    let found = names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|path| path.exists()));
    found.unwrap_or_else(|| panic!("none of {names:?} in {folders:?}; see MINTID_TEST_MYSQL_BIN"))
}
