//! Sets the linker flags that an addon needs; a plain `cargo test` is not affected.

fn main() {
    if std::env::var_os("CARGO_FEATURE_BINDING").is_some() {
        napi_build::setup();
    }
}
