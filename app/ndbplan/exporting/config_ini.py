"""config.ini for the management servers, as text."""

from __future__ import annotations

from ndbplan.configuration.sections import sections
from ndbplan.exporting.templates import render
from ndbplan.ndb.evidence import unheld
from ndbplan.plan.plan import Plan


def render_config_ini(plan: Plan) -> str:
    """The text of config.ini: plain ASCII, no line longer than ndb_mgmd reads."""
    parts = sections(plan)
    told = any(entry.origin for section in parts for entry in section.entries)
    return render("config.ini.j2", plan=plan, sections=parts, file_comment=_file_comment(plan, told=told))


def _file_comment(plan: Plan, *, told: bool) -> str:
    about = unheld(plan.version)
    return (
        f"config.ini of cluster '{plan.name}' for NDB {plan.ndb_version}, written by ndbplan.\n"
        "The same file goes to every management host. Sizes: K, M, G are powers of 1024."
        + (f"\nThe {about}." if about else "")
        + ("\nWhat does not say who set it was set by hand, or follows from the plan." if told else "")
    )
