"""The picture of the README can be made, and is small."""

import io
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from selenium.webdriver import Chrome

from .picture import MOST_BYTES, WIDTH, picture


def test_the_picture_shows_the_page_down_to_its_curves(
    driver: Chrome, report: Callable[[str], Path]
) -> None:
    content = picture(driver, report("real"))
    assert len(content) < MOST_BYTES
    width, height = Image.open(io.BytesIO(content)).size
    assert width == WIDTH
    assert height > 900
