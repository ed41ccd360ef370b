# The two commands of the README for Windows, and those of everyday work. `./dev.ps1 help` lists them.
# Written after the documentation of winget, vcpkg and rustup; see the support table in README.md for what was run.
param([string] $Command = "help", [Parameter(ValueFromRemainingArguments)] [string[]] $Rest = @())
$ErrorActionPreference = "Stop"
$PSNativeCommandUseErrorActionPreference = $true
Set-Location $PSScriptRoot

$Model = "assets/edgetam-default-512-f16.gguf"
$Vcpkg = if ($env:VCPKG_ROOT) { $env:VCPKG_ROOT } else { Join-Path $PSScriptRoot "target/vcpkg" }

function Say($Text) { Write-Host "dev: $Text" -ForegroundColor Cyan }
function Have($Name) { [bool] (Get-Command $Name -ErrorAction SilentlyContinue) }

function Help {
    @"
./dev.ps1 demo [ARGS]    install what is missing, build, track the built-in clip, write masks and an overlay video
./dev.ps1 test [ARGS]    install what is missing, run all tests (ARGS go to ``cargo test``)
./dev.ps1 setup          only install what is missing
./dev.ps1 lint           formatting and clippy, warnings denied
./dev.ps1 weights FILE   convert a checkpoint to the built-in model file
./dev.ps1 bench [ARGS]   measure the speed of the built-in model on this machine
"@
}

function Install($Id, $More = @()) {
    if (-not (Have winget)) { throw "winget is missing (App Installer in the Microsoft Store). Install by hand: $Id" }
    Say "installing $Id"
    winget install --id $Id --exact --silent --accept-package-agreements --accept-source-agreements @More
    # A fresh installation changes the PATH of new shells only.
    $env:Path = [Environment]::GetEnvironmentVariable("Path", "Machine") + ";" + [Environment]::GetEnvironmentVariable("Path", "User") + ";" + $env:Path
}

function Setup {
    $where = "${env:ProgramFiles(x86)}\Microsoft Visual Studio\Installer\vswhere.exe"
    $tools = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"
    if (-not ((Test-Path $where) -and (& $where -products * -requires $tools -property installationPath))) {
        Install "Microsoft.VisualStudio.2022.BuildTools" @("--override", "--wait --quiet --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended")
    }
    if (-not (Have git)) { Install "Git.Git" }
    if (-not (Have cmake)) { Install "Kitware.CMake" }
    if (-not $env:LIBCLANG_PATH) {
        $llvm = "$env:ProgramFiles\LLVM\bin"
        if (-not (Test-Path "$llvm\libclang.dll")) { Install "LLVM.LLVM" }
        $env:LIBCLANG_PATH = $llvm
    }
    if (-not (Have cargo)) { $env:Path = "$env:USERPROFILE\.cargo\bin;$env:Path" }
    if (-not (Have cargo)) {
        Install "Rustlang.Rustup"
        $env:Path = "$env:USERPROFILE\.cargo\bin;$env:Path"
    }
    # FFmpeg with headers: FFMPEG_DIR as ffmpeg-next reads it, else vcpkg.
    if (-not $env:FFMPEG_DIR) {
        $triplet = "x64-windows"
        $installed = Join-Path $Vcpkg "installed/$triplet"
        if (-not (Test-Path "$installed/include/libavcodec")) {
            if (-not (Test-Path "$Vcpkg/bootstrap-vcpkg.bat")) { git clone --depth 1 https://github.com/microsoft/vcpkg $Vcpkg }
            if (-not (Test-Path "$Vcpkg/vcpkg.exe")) { & "$Vcpkg/bootstrap-vcpkg.bat" -disableMetrics }
            Say "building FFmpeg with vcpkg: this takes some minutes, once"
            & "$Vcpkg/vcpkg.exe" install "ffmpeg[core,avcodec,avformat,swscale]:$triplet"
        }
        $env:FFMPEG_DIR = $installed
        $env:Path = "$installed\bin;$env:Path"
    }
}

switch ($Command) {
    "demo" { Setup; cargo run --release --locked -- demo --overwrite @Rest }
    "test" { Setup; cargo test --locked @Rest }
    "setup" { Setup }
    "lint" { Setup; cargo fmt --check; cargo clippy --locked --all-targets -- -D warnings }
    "weights" {
        if ($Rest.Count -ne 1) { throw "give the checkpoint: ./dev.ps1 weights FILE" }
        Setup
        cargo run --release --locked --no-default-features -- model convert $Rest[0] -o $Model --type f16 --native-size 512
        Say "the goldens are not renewed here: run ./dev weights FILE on Linux or macOS before committing"
    }
    "bench" { Setup; cargo run --release --locked -- bench @Rest }
    { $_ -in "help", "-h", "--help" } { Help }
    default { Help; throw "there is no command $Command" }
}
