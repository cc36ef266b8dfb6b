"""What is left for later when PySide loads is there as soon as something asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

_LOADED = "from ndbplan.desktop.pyside_loading import load_pyside; load_pyside()"
_PLAIN = "import PySide6.QtCore"

_ANSWERS = {
    "a wrong call": """
from PySide6.QtCore import QPoint
try:
    QPoint("one", [])
except TypeError as error:
    print(error)
""",
    "a wrong call of a method": """
from PySide6.QtCore import QObject
try:
    QObject().setParent(3)
except TypeError as error:
    print(error)
""",
    "a signature": """
from PySide6.QtCore import QObject, QPoint
from PySide6.support.signature import get_signature
print(get_signature(QObject.setObjectName), get_signature(QPoint))
""",
    "the documentation": """
from PySide6.QtCore import QObject
print(QObject.setObjectName.__doc__)
""",
    "a name that is missing": """
import PySide6.support.signature.parser as parser
print(hasattr(parser, "pyside_type_init"), hasattr(parser, "no_such_name"))
""",
    "an optional feature": """
from PySide6.QtCore import QObject
from __feature__ import snake_case
thing = QObject()
thing.set_object_name("host")
print(thing.object_name())
""",
}


def _printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("asked", _ANSWERS)
def test_pyside_answers_as_if_all_of_it_had_been_loaded(asked: str) -> None:
    answer = _printed(f"{_LOADED}\n{_ANSWERS[asked]}")
    assert answer
    assert answer == _printed(f"{_PLAIN}\n{_ANSWERS[asked]}")


def test_signatures_are_not_read_before_they_are_asked_for() -> None:
    asked = "import sys; print('pyside_type_init' in vars(sys.modules['shibokensupport.signature.parser']))"
    assert _printed(f"{_LOADED}; {asked}") == "False\n"
    assert _printed(f"{_PLAIN}; {asked}") == "True\n"


def test_compiling_is_pythons_own_again_afterwards() -> None:
    assert _printed(f"before = compile; {_LOADED}; print(compile is before)") == "True\n"
