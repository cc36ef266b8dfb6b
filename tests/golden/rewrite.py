"""Write the golden files anew: `make golden`, or `python tests/golden/rewrite.py PLAN...` for some plans.

`PLAN/COMMAND` writes one file of a plan.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from golden.commands import RESULTS, drawn_files
from golden.commands import names as all_names
from golden.kept import rewrite


def main(names: list[str]) -> None:
    """Say which files changed; their difference is to be looked at before it is committed."""
    known = (*all_names(), *drawn_files())
    for name in names or known:
        for file in rewrite(*name.split("/")):
            print(file)
    for folder in RESULTS.iterdir():
        if folder.name not in known:
            shutil.rmtree(folder)
            print(f"{folder.name} is gone")


if __name__ == "__main__":
    main(sys.argv[1:])
