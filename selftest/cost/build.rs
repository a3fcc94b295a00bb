//! Tells the program which compiler built it: counts of instructions differ between compilers.

use std::env;
use std::process::Command;

fn main() {
    let compiler = env::var_os("RUSTC").expect("cargo names the compiler");
    let output = Command::new(compiler).arg("--version").output().expect("the compiler runs");
    println!("cargo::rustc-env=COMPILER={}", String::from_utf8_lossy(&output.stdout).trim());
    println!("cargo::rerun-if-changed=build.rs");
}
