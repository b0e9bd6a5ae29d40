//! Redis servers of a test's own: started from nothing, on free ports and Unix sockets, gone with the process.

#![allow(dead_code, reason = "each test crate uses its own part of this")]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a server may take to do what it was told; never waited for in full.
const LONG: Duration = Duration::from_secs(30);

/// One server, or one Sentinel, in a folder of its own.
pub(crate) struct Server {
    /// The port of `localhost`, without TLS.
    pub(crate) port: u16,
    /// The port with TLS, once it has certificates.
    pub(crate) tls_port: u16,
    folder: TempDir,
    sentinel: bool,
    running: Mutex<Option<Running>>,
}

/// A server, and what ends it when this process ends, however it ends.
struct Running {
    server: Child,
    guard: Child,
}

impl Server {
    /// A new, running server with these lines in its configuration. It keeps nothing on disk unless they say so.
    pub(crate) fn start(configuration: &[&str]) -> Self {
        let server = Self::prepare();
        server.configure(configuration);
        server.launch();
        server
    }

    /// A new server that does not run yet.
    pub(crate) fn prepare() -> Self {
        let server = Self::new(false);
        server.configure(&[
            "bind 127.0.0.1 ::1",
            "save \"\"",
            "repl-diskless-sync-delay 0",
            "repl-ping-replica-period 1",
            "shutdown-timeout 0",
            &format!("unixsocket {}", server.socket()),
        ]);
        server
    }

    /// A running server that follows `primary`, and has caught up with it.
    pub(crate) fn replica(primary: &Self, configuration: &[&str]) -> Self {
        let server = Self::start(&[configuration, &[&format!("replicaof 127.0.0.1 {}", primary.port)]].concat());
        server.wait_for(&["INFO", "replication"], "master_link_status:up");
        server
    }

    /// A running Sentinel that watches `primary` as `mymaster`, with a quorum of one.
    pub(crate) fn sentinel(primary: &Self, configuration: &[&str]) -> Self {
        let server = Self::new(true);
        server.configure(&[
            &format!("sentinel monitor mymaster 127.0.0.1 {} 1", primary.port),
            "sentinel down-after-milliseconds mymaster 500",
            "sentinel failover-timeout mymaster 3000",
        ]);
        server.configure(configuration);
        server.launch();
        server
    }

    fn new(sentinel: bool) -> Self {
        let folder = tempfile::Builder::new().prefix("mintid-redis").tempdir().unwrap();
        let (port, tls_port) = (free_port(), free_port());
        let server = Self { port, tls_port, folder, sentinel, running: Mutex::default() };
        server.configure(&[&format!("port {port}"), &format!("dir {}", server.path("").display())]);
        server.configure(&[&format!("logfile {}", server.path("log").display())]);
        server
    }

    /// Gives it a port with TLS, a certificate, and the root of those that it accepts.
    pub(crate) fn secure(&self, cert: &str, key: &str, root: &str) {
        let (cert, key) = (self.write("server.crt", cert), self.write("server.key", key));
        let root = self.write("root.crt", root);
        let lines = [
            format!("tls-port {}", self.tls_port),
            format!("tls-cert-file {cert}"),
            format!("tls-key-file {key}"),
            format!("tls-ca-cert-file {root}"),
        ];
        self.configure(&lines.each_ref().map(String::as_str));
    }

    /// Starts it, or starts it again, and returns when it answers.
    pub(crate) fn launch(&self) {
        let mut command = Command::new(program("redis-server"));
        command.arg(self.path("conf")).args(self.sentinel.then_some("--sentinel"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Its own group, so that a Ctrl-C ends us before it ends the server.
        let server = command.process_group(0).spawn().unwrap();
        let guard = guard(server.id(), self.folder.path());
        *self.running.lock().unwrap() = Some(Running { server, guard });
        self.wait("to answer", || {
            let output = self.try_ask(&["PING"]);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            said.contains("PONG") || said.contains("NOAUTH") || said.contains("LOADING")
        });
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
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) {
        self.signal("CONT");
    }

    /// Adds lines to its configuration; the last one of a name counts. It has to be started again.
    pub(crate) fn configure(&self, lines: &[&str]) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.path("conf")).unwrap();
        writeln!(file, "{}", lines.join("\n")).unwrap();
    }

    /// Writes a file beside its data. Its path is the answer.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Sends a command as the default user, over a port without TLS; what it answers, as text.
    pub(crate) fn ask(&self, command: &[&str]) -> String {
        let output = self.try_ask(command);
        let said = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        assert!(output.status.success(), "{command:?}: {said}\n{}", self.log());
        said
    }

    /// Sends a command until its answer has this part.
    pub(crate) fn wait_for(&self, command: &[&str], part: &str) {
        self.wait(part, || String::from_utf8_lossy(&self.try_ask(command).stdout).contains(part));
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Its Unix socket.
    pub(crate) fn socket(&self) -> String {
        self.path("redis.sock").to_string_lossy().into_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_ask(&self, command: &[&str]) -> Output {
        let mut client = Command::new(program("redis-cli"));
        client.args(["-p", &self.port.to_string()]).args(command).stdin(Stdio::null()).output().unwrap()
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

/// Three nodes that share the slots, without replicas.
pub(crate) fn cluster(configuration: &[&str]) -> [Server; 3] {
    let buses = [(); 3].map(|()| free_port().to_string());
    let nodes = buses.each_ref().map(|bus| {
        let port = format!("cluster-port {bus}");
        let lines = ["cluster-enabled yes", "cluster-node-timeout 1000", "cluster-require-full-coverage no", &port];
        Server::start(&[configuration, &lines].concat())
    });
    let first = nodes[0].port.to_string();
    for (index, node) in nodes.iter().enumerate() {
        let (begin, end) = (index * 16384 / 3, (index + 1) * 16384 / 3 - 1);
        node.ask(&["CLUSTER", "ADDSLOTSRANGE", &begin.to_string(), &end.to_string()]);
        node.ask(&["CLUSTER", "MEET", "127.0.0.1", &first, &buses[0]]);
    }
    for node in &nodes {
        node.wait_for(&["CLUSTER", "INFO"], "cluster_slots_ok:16384");
        node.wait_for(&["CLUSTER", "INFO"], "cluster_state:ok");
    }
    nodes
}

/// Kills a server and removes its folder when this process ends, however it ends.
fn guard(server: u32, folder: &Path) -> Child {
    let mut command = Command::new("sh");
    command.args(["-c", r#"cat > /dev/null; kill -9 "$0"; rm -rf "$1""#, &server.to_string()]).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn().unwrap()
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// One of the server's programs: from the folder in `MINTID_TEST_REDIS_BIN`, or on the path.
fn program(name: &str) -> PathBuf {
    let folder = std::env::var_os("MINTID_TEST_REDIS_BIN").map(PathBuf::from).unwrap_or_default();
    folder.join(name)
}
