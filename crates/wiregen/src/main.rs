//! Writes the link's wire types from `proto/`: `cargo run -p wiregen` after a file there has changed. They are kept in
//! the tree, so building the program needs no protobuf compiler; a test here fails when they are out of date.

use std::{error::Error, path::Path};

const PROTO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proto");
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../link/src/wire");

fn main() -> Result<(), Box<dyn Error>> {
    write_to(Path::new(KEPT))
}

fn write_to(folder: &Path) -> Result<(), Box<dyn Error>> {
    let descriptors = protox::compile(["link/v1/link.proto", "peer/v1/peer.proto"], [PROTO])?;
    tonic_prost_build::configure()
        .build_transport(false)
        .emit_rerun_if_changed(false)
        .out_dir(folder)
        .compile_fds(descriptors)?;
    Ok(())
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up fails where it stands"
)]
mod tests {
    use super::*;
    use std::fs;

    const FILES: [&str; 2] = ["waypost.link.v1.rs", "waypost.peer.v1.rs"];

    #[test]
    fn the_wire_types_are_what_the_proto_says() {
        let folder = tempfile::tempdir().unwrap();
        write_to(folder.path()).unwrap();
        for file in FILES {
            let generated = fs::read_to_string(folder.path().join(file)).unwrap();
            let kept = fs::read_to_string(Path::new(KEPT).join(file)).unwrap();
            assert!(
                kept == generated,
                "a proto has changed: cargo run -p wiregen writes {file} anew"
            );
        }
    }
}
