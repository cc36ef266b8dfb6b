"""What starts every process with its host: units of systemd, or init scripts."""

from __future__ import annotations

from ndbplan.base.quoting import shell_quoted
from ndbplan.configuration.services import Service, services
from ndbplan.exporting.templates import render
from ndbplan.plan.hardware import ServiceManager
from ndbplan.plan.plan import Plan

_SECONDS_TO_STOP = 600
"""How long a process is waited for that is told to stop; then it is killed (judgement)."""


def render_units(plan: Plan) -> dict[str, str]:
    """The text of every unit and init script by its place in the exported folder."""
    return {service.file: _RENDERED[service.manager](plan, service) for service in services(plan)}


def _unit(plan: Plan, service: Service) -> str:
    return render(
        "service.j2",
        plan=plan,
        unit=service,
        command=_started(service),
        # Nothing is put in for a $ there.
        # A backslash at its end would join the next line to it.
        directory=service.directory + "/" * service.directory.endswith("\\"),
        mounts=[unit_word(path).replace("$$", "$") for path in service.mounts],
        seconds_to_stop=_SECONDS_TO_STOP,
    )


def _started(service: Service) -> str:
    """The words behind ExecStart=; with an @ the second one is what a list of processes shows."""
    program, *rest = map(unit_word, service.command)
    first = (f"@{program}", unit_word(service.shown_as)) if service.shown_as else (program,)
    return " ".join((*first, *rest))


def _init_script(plan: Plan, service: Service) -> str:
    return render(
        "init_script.j2",
        plan=plan,
        service=service,
        command=" ".join(map(shell_quoted, service.command)),
        shown_as=shell_quoted(service.shown_as or service.command[0]),
        mounts=" ".join(map(shell_quoted, service.mounts)),
        seconds_to_stop=_SECONDS_TO_STOP,
    )


_RENDERED = {ServiceManager.SYSTEMD: _unit, ServiceManager.INIT_SCRIPTS: _init_script}


def unit_word(text: str) -> str:
    """One word of a unit file; % and $ stand for themselves."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    plain = escaped == text and not any(c in text for c in " '\t;")
    return escaped if plain and text else f'"{escaped}"'
