"""A logo and a date are drawn in every kind of file, or refused in a line."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest
from PIL import Image

from ndbplan.base.errors import UserError
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report.compose import Options
from ndbplan.report.logo import data_url
from ndbplan.report.verify import verify
from ndbplan.report.write import WRITERS, report


def written(suffix: str, *, logo: str = "", date: str = "") -> bytes:
    options = Options(sections=("hardware",), logo=logo, date=date)
    return report(Project.of(sample_plan("starter")), options, suffix)


@pytest.fixture(scope="module")
def logo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small picture whose bytes are no text."""
    path = tmp_path_factory.mktemp("logo") / "logo.png"
    Image.linear_gradient("L").save(path)
    return data_url(path)


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_logo_is_in_every_kind_of_file(suffix: str, logo: str) -> None:
    with_logo = written(suffix, logo=logo)
    assert len(with_logo) > len(written(suffix)) + 300
    assert verify(with_logo, f"report{suffix}").differ == ()


@pytest.mark.parametrize("suffix", [".pdf", ".pptx"])
def test_what_is_no_whole_picture_is_refused(suffix: str) -> None:
    for content in (b"\x89PNG\r\n and no more", b"\xff"):
        with pytest.raises(UserError, match="cannot be drawn"):
            written(suffix, logo=f"data:image/png;base64,{b64encode(content).decode()}")
    with pytest.raises(UserError, match="cannot be drawn"):
        written(suffix, logo="data:image/png;base64,%")


def test_a_file_that_is_no_picture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "logo.png"
    path.write_bytes(b"hello")
    with pytest.raises(UserError, match="no picture in it"):
        data_url(path)


@pytest.mark.parametrize("day", ["24 Nov 2026", "2026-13-45", "20261124"])
def test_what_is_no_date_is_refused(day: str) -> None:
    with pytest.raises(UserError, match="is not a date"):
        written(".pdf", date=day)
