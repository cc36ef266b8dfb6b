#!/usr/bin/env bash
# Opens the window; without a display does the same job on the sample add-nodes, into out/add-nodes.
set -euo pipefail
cd "$(dirname "$0")/.."

ndbplan() { .venv/bin/python -m ndbplan "$@"; }

if [[ -n ${DISPLAY:-} || -n ${WAYLAND_DISPLAY:-} ]]; then
    exec .venv/bin/python -m ndbplan open "$@"
fi

out=out/add-nodes
plan=$out/add-nodes.ndbplan
echo "There is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): planning the sample add-nodes into $out."
mkdir -p "$out"
rm -f "$plan"
ndbplan new --sample add-nodes -o "$plan"

part() {
    echo
    echo "== $1"
    shift
    ndbplan "$@"
}
part "What the plan needs" estimate "$plan"
part "Where the rows are" distribute "$plan"
part "Adding one node group" reorg "$plan" --add-groups 1
part "Problems" check "$plan" || true
part "Configuration and runbook" export "$plan" --to "$out"
part "Picture of the canvas" render "$plan" -o "$out/canvas.png"
