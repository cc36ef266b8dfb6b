"""One report for all tests that only look at it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from ndbplan.base.kept import keeping
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project, Variant
from ndbplan.plan.samples import sample_plan
from ndbplan.report.compose import SECTIONS, Options
from ndbplan.report.evidence import ask
from ndbplan.report.sources import Answers
from ndbplan.report.write import Made, make, write


def priced(plan: Plan) -> Plan:
    """The plan with prices of its hosts."""
    hosts: tuple[Host, ...] = tuple(
        host.model_copy(update={"purchase_price": 9000.0 + 100 * number})
        for number, host in enumerate(plan.hosts)
    )
    return plan.replace(hosts=hosts, currency="EUR")


QUICK = tuple(kind.key for kind in SECTIONS if kind.key != "matters")


@dataclass(frozen=True)
class Example:
    """A report and what it was made of."""

    project: Project
    options: Options
    answers: Answers
    made: Made
    html: str


@pytest.fixture(scope="session")
def example() -> Example:
    """The report of a plan with prices, growth, errors and a variant."""
    plan = priced(sample_plan("redo-overload-8.4"))
    tables = tuple(table.model_copy(update={"growth_rows_per_month": 90_000}) for table in plan.tables)
    load = plan.workloads[0].load.model_copy(update={"transactions_per_s": 9000.0})
    workload = plan.workloads[0].model_copy(update={"load": load})
    plan = plan.replace(tables=tables, workloads=(workload, *plan.workloads[1:]))
    project = Project(variants=(Variant(plan=plan), Variant(name="Spare", plan=sample_plan("starter"))))
    options = Options(customer="Example & Sons", date="2026-05-09", notes=NOTES, sections=QUICK)
    with keeping():
        about = ask(project, options)
        answers = Answers(about)
        made = make(about, options)
        return Example(project, options, answers, made, write(made, ".html").decode("utf-8"))


NOTES = """Asked for in **May**.

# Tables and memory
Growth as `sales` expects it:
- 3 % a month
"""


def without(example: Example, what: str, suffix: str = ".html") -> bytes:
    """The same report with prices or plan left out."""
    options = replace(example.options, without=what)
    with keeping():
        return write(make(ask(example.project, options), options), suffix)
