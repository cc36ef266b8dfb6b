"""systemd units of every process, by host."""

from __future__ import annotations

from ndbplan.configuration.services import services
from ndbplan.exporting.templates import render
from ndbplan.plan.plan import Plan


def render_units(plan: Plan) -> dict[str, str]:
    """The text of every unit by its place in the exported folder."""
    return {
        service.file: render(
            "service.j2",
            plan=plan,
            unit=service,
            command=" ".join(map(unit_word, service.command)),
            mounts=[unit_word(path) for path in service.mounts],
        )
        for service in services(plan)
    }


def unit_word(text: str) -> str:
    """One word of a unit file; % and $ stand for themselves."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    plain = escaped == text and not any(c in text for c in " '\t;")
    return escaped if plain and text else f'"{escaped}"'
