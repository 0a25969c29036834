"""The source of what lives in this Python is found in its files, or a message says what to do."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from torch import nn

from vitcheck.submissions.reading.live import NoSourceError, definition_of, hand_in

Import = Callable[..., ModuleType]


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Import:
    """Write files, and import the first of them as its student would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def run(name: str, files: dict[str, str]) -> ModuleType:
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_text(text)
        for old in {path.partition("/")[0].removesuffix(".py") for path in files} & sys.modules.keys():
            monkeypatch.delitem(sys.modules, old)
        return importlib.import_module(name)

    return run


def test_a_file_alone_is_handed_in_under_its_name(imported: Import) -> None:
    module = imported("alone_vit", {"alone_vit.py": "class ViT: pass\n", "other.py": "class ViT: pass\n"})
    handed = hand_in(module.ViT)
    assert (handed.name, handed.is_folder, list(handed.files)) == ("alone_vit.py", False, ["alone_vit.py"])


def test_what_it_imports_from_beside_it_comes_along(imported: Import) -> None:
    files = {
        "my_vit.py": "from my_parts.blocks import Block\nimport my_config, torch\nclass ViT(Block): pass\n",
        "my_config.py": "DIM = 8\n",
        "my_parts/__init__.py": "",
        "my_parts/blocks.py": "from . import norms\nclass Block: pass\n",
        "my_parts/norms.py": "",
        "my_parts/unused.py": "raise SystemExit\n",
    }
    handed = hand_in(imported("my_vit", files).ViT)
    assert (handed.name, handed.is_folder) == ("my_vit", True)
    assert {*handed.files} == {*files} - {"my_parts/unused.py"}
    assert handed.files["my_config.py"] == b"DIM = 8\n"


def test_a_class_inside_a_package_keeps_its_package(imported: Import) -> None:
    files = {"my_pack/__init__.py": "from .vit import ViT\n", "my_pack/vit.py": "class ViT: pass\n"}
    assert {*hand_in(imported("my_pack", files).ViT).files} == {*files}


def test_an_instance_stands_for_its_class_and_a_decorated_function_for_itself(imported: Import) -> None:
    text = (
        "import functools\nclass ViT: pass\nmodel = ViT()\n"
        "def slow(f):\n    @functools.wraps(f)\n    def inner(): return f()\n    return inner\n"
        "@slow\ndef attention(): pass\n"
    )
    module = imported("decorated_vit", {"decorated_vit.py": text})
    assert definition_of(module.model) is module.ViT
    assert definition_of(module.attention).__name__ == "attention"


class TestMessages:
    def test_inside_of_a_function(self) -> None:
        class ViT:
            pass

        with pytest.raises(NoSourceError, match=r"<locals>.ViT is made inside of a function.*top level"):
            definition_of(ViT)

    def test_without_a_name(self) -> None:
        with pytest.raises(NoSourceError, match=r"<lambda> .* has no name"):
            definition_of(lambda x: x)

    def test_of_a_library(self) -> None:
        with pytest.raises(NoSourceError, match="you passed a Sequential of the library torch: pass a"):
            hand_in(definition_of(nn.Sequential()))

    def test_of_python_itself(self) -> None:
        with pytest.raises(NoSourceError, match=r"the code of int was not found: .* path of the file"):
            hand_in(definition_of(5))
