#!/usr/bin/env bash
# Makes .venv in the project's folder with the program in it, and installs what Debian lacks for it.
#
#   packaging/setup.sh run     what the program needs
#   packaging/setup.sh test    that, and what its tests need
#
# Quick when nothing changed: Debian's list of packages is asked, and the venv carries the hash of its lock.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-run}
case $kind in run | test) ;; *)
    echo "packaging/setup.sh: '$kind' is neither run nor test" >&2
    exit 2
    ;;
esac

# Libraries that Qt opens: windows under X11 and Wayland, fonts, OpenGL, and its offscreen platform.
debian_run=(
    fontconfig libdbus-1-3 libegl1 libfontconfig1 libfreetype6 libgl1 libglib2.0-0
    libwayland-client0 libwayland-cursor0 libwayland-egl1
    libx11-6 libx11-xcb1 libxcb-cursor0 libxcb-glx0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0
    libxcb-render-util0 libxcb-render0 libxcb-shape0 libxcb-shm0 libxcb-sync1 libxcb-util1 libxcb-xfixes0
    libxcb-xkb1 libxcb1 libxkbcommon-x11-0 libxkbcommon0
)
debian_test=(chromium openbox shellcheck xdotool xvfb)

say() { echo "setup: $*" >&2; }

find_python() {
    local candidate
    for candidate in python3.11 python3 python3.12 python3.13; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
}

install_debian_packages() {
    command -v dpkg-query >/dev/null || return 0
    local wanted=("${debian_run[@]}") missing=() package
    [[ $kind == test ]] && wanted+=("${debian_test[@]}")
    local python
    python=$(find_python)
    [[ -n $python ]] || wanted+=(python3)
    # A Python that Debian did not make brings its own venv and pip.
    if [[ -z $python ]] || ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        wanted+=(python3-venv)
    fi
    for package in "${wanted[@]}"; do
        if [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            missing+=("$package")
        fi
    done
    ((${#missing[@]})) || return 0
    local as_root=()
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            say "Debian packages are missing and there is no sudo; run as root: apt-get install ${missing[*]}"
            exit 1
        fi
        as_root=(sudo)
    fi
    say "installing Debian packages: ${missing[*]}"
    "${as_root[@]}" apt-get update --quiet --quiet
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet --quiet --no-install-recommends "${missing[@]}" >&2
}

stamp_of() {
    { cat "packaging/locks/$1.txt" pyproject.toml; echo "$PWD"; .venv/bin/python --version; } | sha256sum
}

is_current() {
    [[ -f .venv/.lock-$1 && $(<".venv/.lock-$1") == "$(stamp_of "$1")" ]]
}

install_debian_packages

if ! .venv/bin/python -c '' 2>/dev/null; then
    python=$(find_python)
    if [[ -z $python ]]; then
        say "there is no Python 3.11 to 3.13 on the path; install one and call this again"
        exit 1
    fi
    say "making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi

# The test lock holds everything of the run lock in the same versions.
if is_current test || { [[ $kind == run ]] && is_current run; }; then
    exit 0
fi
say "installing the packages of packaging/locks/$kind.txt"
pip=(.venv/bin/python -m pip --quiet --disable-pip-version-check)
# The lock is whole, so nothing is resolved: for a requirement with an extra pip would look at newer versions too.
"${pip[@]}" install --no-deps --require-hashes --only-binary :all: --requirement "packaging/locks/$kind.txt"
"${pip[@]}" install --no-deps --no-build-isolation --editable .
"${pip[@]}" check >&2
# Beside the rest, at low priority; a simulation that comes before its end waits for it.
say "the simulation engine is compiled in the background, which takes half a minute"
# Tests look for what is compiled in a folder of their own.
if [[ $kind == test ]]; then export NUMBA_CACHE_DIR=$PWD/.pytest_cache/compiled; fi
.venv/bin/python -m ndbplan.simulate.prepare --idle </dev/null >/dev/null 2>&1 &
disown
# So that the first start is as quick as the next ones, also where Python writes no bytecode of its own.
.venv/bin/python -m compileall -q app
stamp_of "$kind" >".venv/.lock-$kind"
say "done"
