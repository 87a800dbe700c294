from xml.etree import ElementTree

from honestybench.elical.curve import HEIGHT, MARGIN, WIDTH, loss_curve

SVG = "{http://www.w3.org/2000/svg}"
LOSSES = [
    {"step": 1, "loss": 0.4},
    {"step": 2, "loss": 0.2},
    {"step": 2, "selection_loss": 0.1},
    {"step": 4, "loss": 0.0},
    {"step": 4, "selection_loss": 0.3},
]


def test_points_stand_where_the_losses_are() -> None:
    """The area is 544 wide and 224 high: step 4 and loss .4 are its full width and height."""
    assert (WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN) == (544, 224)
    drawing = ElementTree.fromstring(loss_curve(LOSSES))
    line = drawing.find(f"{SVG}polyline")
    assert line is not None
    # 48 + 544/4 = 184, 48 + 544/2 = 320, 592; heights 48 at .4, 48 + 224/2 = 160 at .2, 272 at 0.
    assert line.get("points") == "184.0,48.0 320.0,160.0 592.0,272.0"
    dots = [(dot.get("cx"), dot.get("cy")) for dot in drawing.findall(f"{SVG}circle")]
    assert dots == [("320.0", "216.0"), ("592.0", "104.0")]


def test_it_tells_what_it_shows_in_words() -> None:
    drawing = ElementTree.fromstring(loss_curve(LOSSES))
    title = drawing.find(f"{SVG}title")
    assert title is not None and title.text == drawing.get("aria-label")
    assert "4 steps, up to 0.4" in str(title.text)


def test_no_loss_and_only_zeros_are_drawn_too() -> None:
    for losses in ([], [{"step": 1, "loss": 0.0}], [{"step": 3, "selection_loss": 0.0}]):
        ElementTree.fromstring(loss_curve(losses))
