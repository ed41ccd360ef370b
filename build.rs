//! Builds ggml from the pinned crate that carries its source, and makes the bindings. See ARCHITECTURE.md, "ggml".

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate whose package holds ggml under `llama.cpp/ggml`.
const CARRIER: &str = "llama-cpp-sys-2";

/// What may be said through the environment. `MASKLET_CUDA_ARCH`: CUDA architectures, as CMake wants them (`90-real`);
/// `MASKLET_VULKAN_INCLUDE`: where newer Vulkan headers lie; `MASKLET_CPU_VARIANTS=0`: with plug-ins, one CPU variant only.
const SETTINGS: [&str; 7] = [
    "GGML_SOURCE_DIR",
    "MASKLET_GGML_BUILD",
    "MASKLET_NATIVE",
    "MASKLET_CUDA_ARCH",
    "MASKLET_VULKAN_INCLUDE",
    "MASKLET_CPU_VARIANTS",
    "DOCS_RS",
];

/// The backends beside the CPU's: cargo feature, CMake option, library.
const BACKENDS: [(&str, &str, &str); 3] = [
    ("CUDA", "GGML_CUDA", "ggml-cuda"),
    ("VULKAN", "GGML_VULKAN", "ggml-vulkan"),
    ("METAL", "GGML_METAL", "ggml-metal"),
];

fn main() {
    for file in
        ["build.rs", "Cargo.lock", "vendor/CMakeLists.txt", "vendor/cuda/fuse.cuh", "vendor/wrapper.h"]
    {
        println!("cargo:rerun-if-changed={file}");
    }
    for name in SETTINGS {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    assert!(
        manifest.join("vendor/CMakeLists.txt").exists(),
        "vendor/CMakeLists.txt is missing: plain `cargo vendor` deletes it; run `git checkout vendor` and vendor \
         into another folder with `cargo vendor third_party`"
    );
    let source = source_dir(&manifest);
    bindings(&manifest, &source);
    // docs.rs has no network and needs no library.
    if env::var_os("DOCS_RS").is_none() {
        let flags = Flags::read();
        let built = build(&source, &flags);
        if flags.plugins { link_shared(&built) } else { link_static(&built, &flags) }
    }
}

fn feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

/// How ggml is to be built.
struct Flags {
    /// Backends as plug-ins beside the program, instead of inside it.
    plugins: bool,
    defines: Vec<(&'static str, String)>,
}

impl Flags {
    fn read() -> Self {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let on = |yes: bool| if yes { "ON" } else { "OFF" }.to_owned();
        let plugins = feature("DYNAMIC_BACKENDS");
        let variants = plugins && set("MASKLET_CPU_VARIANTS").is_none_or(|v| v != "0");
        // Plug-ins choose the processor's instructions at run time: ggml refuses both at once.
        let native = !plugins && set("MASKLET_NATIVE").is_none_or(|v| v != "0");
        let mut defines = vec![
            ("GGML_LLAMAFILE", on(true)),
            ("GGML_OPENMP", on(false)),
            ("GGML_CCACHE", on(false)),
            ("GGML_NATIVE", on(native)),
            ("BUILD_SHARED_LIBS", on(plugins)),
        ];
        if plugins {
            defines.push(("GGML_BACKEND_DL", on(true)));
            defines.push(("GGML_CPU_ALL_VARIANTS", on(variants)));
            defines.push(("CMAKE_INSTALL_RPATH", "$ORIGIN".into()));
        }
        for (name, option, _) in BACKENDS {
            // Metal is on by itself on a Mac.
            if feature(name) || name == "METAL" {
                defines.push((option, on(feature(name))));
            }
        }
        if feature("CUDA") {
            // Off by itself outside llama.cpp: without it every launch costs.
            defines.push(("GGML_CUDA_GRAPHS", on(true)));
            defines.push(("GGML_CUDA_NCCL", on(false)));
            // The driver's library, which is not there where releases are built, is then not needed to link.
            defines.push(("GGML_CUDA_NO_VMM", on(true)));
            defines.extend(set("MASKLET_CUDA_ARCH").map(|v| ("CMAKE_CUDA_ARCHITECTURES", v)));
        }
        if feature("VULKAN") {
            defines.extend(set("MASKLET_VULKAN_INCLUDE").map(|v| ("Vulkan_INCLUDE_DIR", v)));
        }
        Self { plugins, defines }
    }

    /// A folder's name for what these flags make.
    fn folder(&self, target: &str) -> String {
        let value = |name| self.defines.iter().find(|(n, _)| *n == name).map_or("OFF", |(_, v)| v.as_str());
        let mut name = format!("ggml-{target}-native-{}", value("GGML_NATIVE"));
        for (flag, word) in [
            ("GGML_BACKEND_DL", "plugins"),
            ("GGML_CPU_ALL_VARIANTS", "variants"),
            ("GGML_CUDA", "cuda"),
            ("GGML_VULKAN", "vulkan"),
            ("GGML_METAL", "metal"),
        ] {
            if value(flag) == "ON" {
                name.push('-');
                name.push_str(word);
            }
        }
        name
    }

    /// What the folder's name does not tell of the flags; nothing in a plain build.
    fn extra(&self) -> String {
        let told = ["CMAKE_CUDA_ARCHITECTURES", "Vulkan_INCLUDE_DIR"];
        let extra = self.defines.iter().filter(|(name, _)| told.contains(name));
        extra.map(|(name, value)| format!("\n{name}={value}")).collect()
    }
}

/// Where ggml's source lies: `GGML_SOURCE_DIR`, else inside the pinned crate.
fn source_dir(manifest: &Path) -> PathBuf {
    if let Some(dir) = env::var_os("GGML_SOURCE_DIR") {
        return dir.into();
    }
    let output = Command::new(env::var_os("CARGO").expect("cargo sets it"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(manifest.join("Cargo.toml"))
        .output()
        .expect("cargo can be started again");
    assert!(
        output.status.success(),
        "cargo metadata failed; offline builds need `cargo fetch` first:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let carrier = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|p| p["name"] == CARRIER))
        .and_then(|p| p["manifest_path"].as_str())
        .unwrap_or_else(|| panic!("{CARRIER} is not in Cargo.lock"));
    Path::new(carrier).parent().expect("a manifest lies in a folder").join("llama.cpp/ggml")
}

/// Builds ggml once per flag set, in a folder that all profiles share.
fn build(source: &Path, flags: &Flags) -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let target = env::var("TARGET").expect("cargo sets it");
    let folder = env::var_os("MASKLET_GGML_BUILD").map_or_else(
        || out.ancestors().nth(4).expect("OUT_DIR lies four folders below target").to_path_buf(),
        PathBuf::from,
    );
    let folder = folder.join(flags.folder(&target));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    // Two cargo runs (an editor's and a shell's) must not build in it at once.
    let lock = File::create(folder.join("lock")).expect("the target folder can be written");
    lock.lock().expect("the file system has locks");
    // A registry's source never changes: what another checkout built from it serves this one too.
    let recipe = std::fs::read_to_string("vendor/CMakeLists.txt").expect("checked at the start");
    let (stamp, wanted) =
        (folder.join("built-from"), format!("{}\n{recipe}{}", source.display(), flags.extra()));
    let fixed = env::var_os("GGML_SOURCE_DIR").is_none();
    if fixed && std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return folder;
    }
    let _ = std::fs::remove_file(&stamp);
    let mut config = cmake::Config::new("vendor");
    // Always: cmake-rs would make an unoptimised ggml for the dev profile.
    config.profile("Release").define("GGML_SOURCE_DIR", source);
    for (name, value) in &flags.defines {
        config.define(name, value);
    }
    let built = config.out_dir(&folder).build();
    std::fs::write(stamp, wanted).expect("the target folder can be written");
    built
}

/// Static libraries, users before the used.
fn link_static(built: &Path, flags: &Flags) {
    search(built);
    println!("cargo:rustc-link-lib=static=ggml");
    for (_, option, library) in BACKENDS {
        if flags.defines.iter().any(|(name, value)| *name == option && value == "ON") {
            println!("cargo:rustc-link-lib=static={library}");
        }
    }
    for library in ["ggml-cpu", "ggml-base"] {
        println!("cargo:rustc-link-lib=static={library}");
    }
    if feature("CUDA") {
        for root in ["CUDAToolkit_ROOT", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from) {
            println!("cargo:rustc-link-search=native={}", root.join("lib64").display());
        }
        for library in ["cudart", "cublas", "cublasLt"] {
            println!("cargo:rustc-link-lib=dylib={library}");
        }
    }
    let windows = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "windows");
    if feature("VULKAN") {
        println!("cargo:rustc-link-lib=dylib={}", if windows { "vulkan-1" } else { "vulkan" });
    }
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => {
            println!("cargo:rustc-link-lib=dylib=c++");
            println!("cargo:rustc-link-lib=framework=Accelerate");
            if feature("METAL") {
                for framework in ["Foundation", "Metal", "MetalKit"] {
                    println!("cargo:rustc-link-lib=framework={framework}");
                }
            }
        }
        Ok("windows") => {}
        _ => println!("cargo:rustc-link-lib=dylib=stdc++"),
    }
}

fn search(built: &Path) {
    println!("cargo:rustc-link-search=native={}", built.join("lib").display());
    println!("cargo:rustc-link-search=native={}", built.join("lib64").display());
}

/// Shared libraries, which are copied beside the programs that cargo makes, with the plug-ins.
fn link_shared(built: &Path) {
    search(built);
    for library in ["ggml", "ggml-base"] {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => println!("cargo:rustc-link-arg=-Wl,-rpath,@loader_path"),
        Ok("windows") => {}
        _ => println!("cargo:rustc-link-arg=-Wl,-rpath,$ORIGIN"),
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let profile = out.ancestors().nth(3).expect("OUT_DIR lies three folders below the profile's");
    for target in [profile.to_path_buf(), profile.join("deps")] {
        std::fs::create_dir_all(&target).expect("the target folder can be written");
        for folder in ["lib", "lib64", "bin"] {
            let Ok(entries) = std::fs::read_dir(built.join(folder)) else { continue };
            let files = entries.flatten().map(|entry| entry.path());
            for file in files.filter(|file| is_shared(file)) {
                let copy = target.join(file.file_name().expect("an entry of a folder has a name"));
                // A running program may have the old file mapped: it keeps it, under no name.
                let _ = std::fs::remove_file(&copy);
                std::fs::copy(&file, &copy).expect("the target folder can be written");
            }
        }
    }
}

fn is_shared(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.contains("ggml") && (name.contains(".so") || name.ends_with(".dylib") || name.ends_with(".dll"))
}

fn bindings(manifest: &Path, source: &Path) {
    bindgen::Builder::default()
        .header(manifest.join("vendor/wrapper.h").display().to_string())
        .clang_arg(format!("-I{}", source.join("include").display()))
        .allowlist_item("(ggml|GGML)_.*")
        .opaque_type("_IO_FILE")
        // ggml_backend_dev_type is an enum and a function: plain constants avoid the clash.
        .prepend_enum_name(false)
        .layout_tests(false)
        .generate_comments(false)
        .use_core()
        .generate()
        .expect("libclang reads ggml's headers: install libclang (Debian: libclang-dev)")
        .write_to_file(PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("ggml.rs"))
        .expect("OUT_DIR can be written");
}
