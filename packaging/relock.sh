#!/usr/bin/env bash
# Writes the locks anew from pyproject.toml: newest allowed versions, with the hashes of their files.
set -euo pipefail
cd "$(dirname "$0")/.."
lock() {
    uv pip compile --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate --upgrade \
        pyproject.toml "${@:2}" --output-file "packaging/locks/$1.txt"
}
lock run --group build
lock test --group test --extra dask
