"""`make bench`: run every bench_*.py in a process of its own and show its figures.

A benchmark has `main()`, which returns Figures or prints what it measured itself.

    python tests/benchmarks/collect.py            all
    python tests/benchmarks/collect.py start      those with `start` in their name
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run_here(path: Path) -> int:
    """Run one benchmark in this process; 1 when a limit was missed."""
    sys.path.insert(0, str(HERE))
    from figures import show

    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    figures = module.main()
    if isinstance(figures, int):
        return figures
    return 0 if not figures or show(figures) else 1


def main(wanted: list[str]) -> int:
    """Run the benchmarks whose names hold one of `wanted`, or all."""
    worst = 0
    for path in sorted(HERE.glob("bench_*.py")):
        if wanted and not any(part in path.stem for part in wanted):
            continue
        print(f"\n== {path.stem.removeprefix('bench_').replace('_', ' ')}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, __file__, "--here", path], check=False).returncode)
    return worst


if __name__ == "__main__":
    if sys.argv[1:2] == ["--here"]:
        sys.exit(run_here(Path(sys.argv[2])))
    sys.exit(main(sys.argv[1:]))
