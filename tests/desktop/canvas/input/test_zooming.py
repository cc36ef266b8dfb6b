"""A large plan is a scaled picture while the zoom moves, and exact when it rests."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF

from ndbplan.desktop.look import theme
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def large(hands_on):
    return hands_on(sample_plan("telecom-144"), zoom=0.6)


def _ground_of_a_card(view, host_id: str) -> str:
    """Colour of a place where nothing else is drawn: right in the header."""
    rect = view.canvas_scene.item_of(host_id).rect_in_scene()
    at = view.mapFromScene(QPointF(rect.right() - 60, rect.top() + 25))
    return view.viewport().grab().toImage().pixelColor(at).name()


def test_a_small_plan_is_painted_at_every_step(hands) -> None:
    hands.view.zoom_in()
    assert hands.view._zooming is None


@pytest.mark.parametrize("factor", [1.2, 0.5])
def test_what_is_painted_when_the_zoom_rests_is_exact(large, qtbot, factor) -> None:
    view = large.view
    view.step_zoom(factor)
    view.step_zoom(factor)
    assert view._zooming.is_moving
    scaled = view.viewport().grab().toImage()
    qtbot.waitUntil(lambda: not view._zooming.is_moving)
    rested = view.viewport().grab().toImage()
    assert rested != scaled
    view._zooming = None
    view.canvas_scene.set_tokens(theme.tokens())
    assert view.viewport().grab().toImage() == rested
    assert view.zoom == pytest.approx(0.6 * factor**2)


def test_cards_stand_where_they_belong_while_the_zoom_moves(large) -> None:
    view = large.view
    host = large.plan.hosts[70].id
    view.centerOn(view.canvas_scene.item_of(host).rect_in_scene().center())
    for _ in range(3):
        view.zoom_out()
        assert view._zooming.is_moving
        assert _ground_of_a_card(view, host) == theme.tokens().card
    # Beyond the picture's edge a card is a plain box, at its place too.
    seen = view.visible_rect()
    beyond = next(
        h.id
        for h in large.plan.hosts
        if not view._zooming._shows.intersects(view.canvas_scene.item_of(h.id).rect_in_scene())
        and seen.contains(view.canvas_scene.item_of(h.id).rect_in_scene())
    )
    assert _ground_of_a_card(view, beyond) == theme.tokens().card


def test_a_press_ends_the_scaled_picture_at_once(large) -> None:
    view = large.view
    view.zoom_in()
    assert view._zooming.is_moving
    large.press(view.mapToScene(20, 20))
    assert not view._zooming.is_moving
    large.release(view.mapToScene(20, 20))
