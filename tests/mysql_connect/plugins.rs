//! The ways to log in, with servers that have them.

use super::*;

/// MySQL's default. A server that remembers the password is content with a hash of it; one that does not, wants all of it.
#[tokio::test]
async fn caching_sha2_password_with_a_cold_cache() {
    if is_mariadb() {
        return;
    }
    let Shared { authority, .. } = shared();
    let server = Server::prepare();
    let Signed { cert, key } = authority.server(&["localhost"]);
    server.secure(&cert, &key, &authority.pem);
    server.launch();
    server.sql("create database test");
    user(&server, "me", PASSWORD, "");
    let plain = url(&server, "me", "?ssl-mode=DISABLED");
    let careful = format!("{plain}&allowPublicKeyRetrieval=false");
    for forget in [&(|| drop(server.sql("flush privileges"))) as &dyn Fn(), &|| {
        server.stop();
        server.launch();
    }] {
        forget();
        expect(&open(&careful).await.unwrap_err(), Retry::Never, None, "use TLS");
        // With the server's key; then it remembers.
        assert!(!encrypted(&open(&plain).await.unwrap()).await);
        open(&careful).await.unwrap();
        forget();
        let wrong = plain.replace(PASSWORD, "wrong");
        expect(&open(&wrong).await.unwrap_err(), Retry::Never, Some("1045"), "user or password is wrong");
        // Under TLS, and through a Unix socket, it goes as it is.
        assert!(encrypted(&open(&url(&server, "me", "?ssl-mode=REQUIRED")).await.unwrap()).await);
        open(&careful).await.unwrap();
        forget();
        open(&format!("mysql://me:{PASSWORD}@localhost/test?socket={}", server.socket())).await.unwrap();
    }
}

#[tokio::test]
async fn the_other_plugins_of_mysql() {
    if is_mariadb() {
        return;
    }
    let Shared { server, .. } = shared();
    let has = |name: &str| {
        server.sql(&format!("select count(*) from information_schema.plugins where plugin_name = '{name}'")) == "1"
    };
    for plugin in ["mysql_native_password", "sha256_password"] {
        if !has(plugin) {
            continue;
        }
        server.sql(&format!("create user {plugin}@'127.0.0.1' identified with {plugin} by '{PASSWORD}'"));
        server.sql(&format!("grant all on test.* to {plugin}@'127.0.0.1'"));
        for mode in ["DISABLED", "REQUIRED"] {
            open(&url(server, plugin, &format!("?ssl-mode={mode}"))).await.unwrap();
        }
        let error = open(&url(server, plugin, "").replace(PASSWORD, "wrong")).await.unwrap_err();
        expect(&error, Retry::Never, Some("1045"), "user or password is wrong");
    }
}

#[tokio::test]
async fn the_plugins_of_mariadb() {
    if !is_mariadb() {
        return;
    }
    let Shared { server, .. } = shared();
    let mut plugins = vec![("ed25519", "auth_ed25519")];
    if !mysql_server::version().contains("Ver 10.") {
        plugins.push(("parsec", "auth_parsec"));
    }
    for (plugin, library) in plugins {
        server.sql(&format!("install soname '{library}'"));
        server.sql(&format!(
            "create user {plugin}@'127.0.0.1' identified via {plugin} using password('{PASSWORD}'); \
             grant all on test.* to {plugin}@'127.0.0.1'"
        ));
        for mode in ["DISABLED", "REQUIRED"] {
            let connection = open(&url(server, plugin, &format!("?ssl-mode={mode}"))).await.unwrap();
            assert_eq!(ask(&connection, "select 1").await.unwrap(), "1");
        }
        let error = open(&url(server, plugin, "").replace(PASSWORD, "wrong")).await.unwrap_err();
        expect(&error, Retry::Never, Some("1045"), "user or password is wrong");
    }
    // Who the operating system says we are, and a password for those who are somebody else.
    server.sql("create user somebody@localhost identified via unix_socket");
    let error = open(&format!("mysql://somebody@localhost/test?socket={}", server.socket())).await.unwrap_err();
    expect(&error, Retry::Never, Some("1698"), "user or password is wrong");
    server.sql("alter user root@localhost identified via unix_socket");
    assert_eq!(ask(&open(&root(server)).await.unwrap(), "select user()").await.unwrap(), "root@localhost");
}
