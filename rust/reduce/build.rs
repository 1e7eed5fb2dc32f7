//! Lists the format files, so that a new one needs no line of Rust.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("formats");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut folders: Vec<PathBuf> = fs::read_dir(&root)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    folders.sort();
    let mut list = String::from("const SOURCES: &[(&str, &str)] = &[\n");
    for folder in folders {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .replace('-', " ");
        let file = folder.join("format.toml");
        if !file.exists() {
            continue;
        }
        let path = file.display().to_string();
        println!("cargo::rerun-if-changed={path}");
        writeln!(list, "    ({name:?}, include_str!({path:?})),").map_err(io::Error::other)?;
    }
    list.push_str("];\n");
    fs::write(
        PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("formats.rs"),
        list,
    )
}
