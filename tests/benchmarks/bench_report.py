"""How long the report of the largest sample takes, and how large it is.

Run with `python tests/benchmarks/bench_report.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import time

from figures import Figure

from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report.compose import Options
from ndbplan.report.write import report

MOST_S = 5.0
"""On a machine that does nothing else."""
MOST_BYTES = 3_000_000


def main() -> list[Figure]:
    """Seconds of the processor for HTML and PDF of telecom-144, and the bytes of the HTML."""
    project = Project.of(sample_plan("telecom-144"))
    # What is compiled once per machine is no report's time.
    report(Project.of(sample_plan("starter")), Options(sections=("simulation",)), ".html")
    times, page = [], b""
    for suffix in (".html", ".pdf"):
        begin = time.process_time()
        written = report(project, Options(), suffix)
        times.append(time.process_time() - begin)
        page = page or written
    return [
        Figure("report of telecom-144 as HTML", times[0], "s", at_most=MOST_S),
        Figure("report of telecom-144 as PDF", times[1], "s"),
        Figure("HTML of telecom-144", float(len(page)), "bytes", at_most=float(MOST_BYTES)),
    ]


if __name__ == "__main__":
    for figure in main():
        print(figure.name, f"{figure.value:.2f}", figure.unit)
