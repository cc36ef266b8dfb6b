"""Where the compiled kernel is kept and when it counts as ready."""

from __future__ import annotations

import subprocess
import sys

from ndbplan.simulate import kernel


def test_it_is_ready_after_preparing() -> None:
    kernel.prepare()
    assert kernel.is_prepared()


def test_asking_for_readiness_imports_no_compiler() -> None:
    code = (
        "import sys; from ndbplan.simulate import kernel, run; kernel.is_prepared();"
        "assert not {'numba', 'PySide6', 'pyqtgraph'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
