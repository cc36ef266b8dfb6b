"""Text for others to read: Markdown, plain ASCII."""

from __future__ import annotations

import pytest

from ndbplan.base.quoting import ascii_text, markdown_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("shop.new_order", "shop.new_order"),
        ("a <script>b</script>", r"a \<script>b\</script>"),
        ("[x](http://e)", r"\[x\](http://e)"),
        ("`rm -rf` *now* _x_ \\", r"\`rm -rf\` \*now\* \_x\_ \\"),
        ("&lt;", r"\&lt;"),
        ("a|b", r"a\|b"),
    ],
)
def test_names_are_shown_as_they_are(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


def test_letters_with_marks_are_the_letters_in_ascii() -> None:
    """A comment of a file said `Gro??e Ka??e` of a cluster."""
    assert ascii_text("Größe Kåße, čtyři × 2 → naïve 表") == "Grosse Kasse, ctyri x 2 -> naive ?"


def test_a_name_in_a_runbook_is_no_markdown() -> None:
    from ndbplan.edits import parts as edits
    from ndbplan.exporting.export import render_files
    from ndbplan.plan.samples import sample_plan

    plan = sample_plan("add-nodes")
    plan = edits.update(plan, plan.tables[0].id, name="<img src=x>`id`")
    text = render_files(edits.set_plan(plan, name="[x](http://e)"))["runbook.md"]
    assert r"Runbook: \[x\](http://e)" in text
    titles = [line for line in text.splitlines() if line.startswith("#")]
    assert any("img src" in line for line in titles)
    assert not any("<img" in line.replace(r"\<", "") or "`" in line.replace(r"\`", "") for line in titles)
