"""A headless Chromium, as the tests drive it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--font-render-hinting=none"]


@contextmanager
def launched() -> Iterator[Browser]:
    """Fails with advice where there is none."""
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    assert path, "these tests need Chromium: install it, or set CHROMIUM to the path of its program"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield chromium
        chromium.close()
