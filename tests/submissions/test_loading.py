"""Executing submissions as students write them: whatever else the code does, its classes can be used."""

import inspect
import linecache
import random
import sys
import textwrap
from collections.abc import Iterator, Mapping

import pytest
import torch
from torch import nn

from vitcheck.submissions.child.loading.definitions import Definitions
from vitcheck.submissions.child.loading.execution import Loaded, load
from vitcheck.submissions.errors import Frame

MODEL = """
import torch
import torch.nn as nn

class ViT(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.head = nn.Linear(dim, 3)
    def forward(self, x):
        return self.head(x)
"""


def run(source: str | Mapping[str, str], **constants: object) -> Loaded:
    files = {"vit.py": source} if isinstance(source, str) else source
    loaded = load({name: textwrap.dedent(text).encode() for name, text in files.items()})
    return loaded.reload(constants) if constants else loaded


def skipped(loaded: Loaded, text: str) -> str:
    """Return why the one skipped statement that begins with ``text`` was."""
    (reason,) = [one.reason for one in loaded.skipped if one.text.startswith(text)]
    return reason


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    for cache, start in ((sys.modules, "_submission"), (linecache.cache, "<submission>/")):
        for name in [name for name in cache if str(name).startswith(start)]:
            del cache[name]


def test_a_plain_file_gives_its_class_ready_to_use() -> None:
    loaded = run(MODEL)
    assert loaded.error is None
    assert loaded.cause is None
    assert loaded.skipped == []
    model = loaded.modules["vit.py"].ViT(dim=4)
    assert model(torch.zeros(2, 4)).shape == (2, 3)


def test_a_training_script_is_not_trained() -> None:
    loaded = run(
        MODEL
        + """
import matplotlib_is_not_here as plt
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 10
device = "cuda" if torch.cuda.is_available() else "cpu"
dataset = TensorDataset(torch.zeros(10, 8))
loader = DataLoader(dataset)
model = ViT().cuda()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(EPOCHS):
    for (batch,) in loader:
        raise RuntimeError("trained")
def train(model):
    for (batch,) in loader:
        model(batch.to(device))
train(model)
history = train(model)
plt.plot(history)
plt.show()
exit()
raise SystemExit(3)
"""
    )
    assert loaded.error is None
    module = loaded.modules["vit.py"]
    assert not {"dataset", "loader", "model", "optimizer", "history", "batch", "epoch"} & vars(module).keys()
    assert module.device == "cpu"
    assert skipped(loaded, "for epoch") == "not run: no class or function needs it"
    assert skipped(loaded, "loader =") == "not run: it loads data or uses the network"
    assert (
        skipped(loaded, "import matplotlib")
        == "needs the package 'matplotlib_is_not_here', which is not installed"
    )


def test_what_a_class_needs_is_run_in_order_and_the_rest_is_not() -> None:
    loaded = run(
        """
        import torch.nn as nn
        def activation(name):
            return TABLE[name]()
        TABLE = {"gelu": nn.GELU}
        TABLE.update(relu=nn.ReLU)
        ACT = activation("relu")
        BIG = activation("gelu")
        class ViT(nn.Module):
            def forward(self, x):
                return ACT(x)
        """
    )
    module = loaded.modules["vit.py"]
    assert isinstance(module.ACT, nn.ReLU)
    assert not hasattr(module, "BIG")


def test_a_model_made_only_for_training_is_not_built_but_a_part_that_the_class_needs_is() -> None:
    loaded = run(
        """
        import torch.nn as nn
        class Patches(nn.Module):
            pass
        embed = Patches()
        model = Patches()
        class ViT(nn.Module):
            def forward(self, x):
                return embed(x)
        def evaluate():
            return model
        """
    )
    assert hasattr(loaded.modules["vit.py"], "embed")
    assert skipped(loaded, "model =").startswith("not run: it builds or runs a model")


def test_the_script_part_is_not_run() -> None:
    loaded = run(MODEL + "if __name__ == '__main__':\n    ViT = None\n")
    assert loaded.modules["vit.py"].ViT is not None


def test_argparse_at_top_level_gives_its_defaults() -> None:
    loaded = run(
        """
        import argparse
        import torch.nn as nn
        parser = argparse.ArgumentParser()
        parser.add_argument("--dim", type=int, default=24)
        args = parser.parse_args()
        class ViT(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(args.dim, 3)
        """
    )
    assert loaded.modules["vit.py"].ViT().head.in_features == 24


def test_required_arguments_do_not_end_the_process() -> None:
    loaded = run(
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--x', required=True)\n"
        "args = parser.parse_args()\n" + MODEL + "def train():\n    return args.x\n"
    )
    assert loaded.error is None
    assert "SystemExit" in skipped(loaded, "args =")


def test_argv_is_put_back() -> None:
    before = list(sys.argv)
    run(MODEL)
    assert sys.argv == before


def test_a_dataclass_config_with_postponed_annotations() -> None:
    loaded = run(
        """
        '''My ViT.'''
        from __future__ import annotations
        from dataclasses import dataclass, field
        import torch.nn as nn

        @dataclass
        class Config:
            dim: int = 768
            sizes: list[int] = field(default_factory=list)

        config = Config(dim=12)

        class ViT(nn.Module):
            def __init__(self, cfg: Config = config) -> None:
                super().__init__()
                self.head = nn.Linear(cfg.dim, 3)
        """
    )
    assert loaded.error is None
    assert loaded.modules["vit.py"].ViT().head.in_features == 12


def test_annotations_are_values_where_the_student_did_not_postpone_them() -> None:
    loaded = run("class Config:\n    dim: int = 3\n" + MODEL)
    assert inspect.get_annotations(loaded.modules["vit.py"].Config)["dim"] is int


def test_colab_code() -> None:
    loaded = run(
        """
        try:
            from google.colab import drive
            drive.mount("/content/drive")
            ROOT = "/content/drive"
        except ImportError:
            !pip install einops
            ROOT = "."
        """
        + textwrap.indent(MODEL, "        ")
    )
    assert loaded.error is None
    assert loaded.modules["vit.py"].ROOT == "."
    assert [(one.line, one.text) for one in loaded.skipped] == [(7, "!pip install einops")]


def test_a_choice_by_if_is_made() -> None:
    loaded = run(MODEL + "if torch.cuda.device_count() > 99:\n    dim = 1\nelse:\n"
    "    print('no')\n    dim = 2\n"
                 "class Big(ViT):\n    width = dim\n")  # fmt: skip
    assert loaded.modules["vit.py"].Big.width == 2


def test_breakpoints_debuggers_and_questions_do_not_stop_a_forward_pass() -> None:
    loaded = run(
        """
        import pdb
        from ipdb import set_trace
        import torch.nn as nn
        class ViT(nn.Module):
            def forward(self, x):
                breakpoint()
                pdb.set_trace()
                set_trace()
                import pdb as again; again.set_trace()
                return x
        class Asks(nn.Module):
            def forward(self, x):
                return input("size? ")
        """
    )
    assert loaded.error is None
    assert loaded.modules["vit.py"].ViT()(3) == 3
    with pytest.raises(EOFError, match="cannot be used while"):
        loaded.modules["vit.py"].Asks()(3)


def test_a_missing_package_that_nothing_of_the_model_needs_is_a_note() -> None:
    loaded = run("import wandb_not_here\n" + MODEL + "def log(x):\n    wandb_not_here.log(x)\n")
    assert loaded.error is None
    assert loaded.cause is None


def test_a_missing_package_that_the_only_class_extends_is_the_reason() -> None:
    loaded = run(
        "import torch\nimport timm_not_here, math\nclass ViT(timm_not_here.Block):\n    pi = math.pi\n"
    )
    assert loaded.error is not None
    assert loaded.error.reason == "needs the package 'timm_not_here', which is not installed"
    assert loaded.error.frame == Frame("vit.py", 2)


def test_a_missing_package_that_a_forward_pass_uses_is_the_likely_cause() -> None:
    loaded = run(
        MODEL + "from einops_not_here import rearrange\nclass Big(ViT):\n"
        "    def forward(self, x):\n        return rearrange(x)\n"
    )
    assert loaded.error is None
    assert loaded.cause is not None
    assert "einops_not_here" in loaded.cause.reason


def test_a_library_call_alone_names_the_missing_library() -> None:
    loaded = run("import timm_not_here\nmodel = timm_not_here.create_model('vit_base_patch16_224')\n")
    assert loaded.error is not None
    assert "timm_not_here" in loaded.error.reason


def test_a_class_that_fails_says_why() -> None:
    loaded = run("import torch.nn as nn\n\nclass ViT(nn.Modul):\n    pass\n")
    assert loaded.error is not None
    assert loaded.error.reason.startswith("'class ViT(nn.Modul):' failed: AttributeError: ")
    assert loaded.error.frame == Frame("vit.py", 3)


def test_a_class_that_needs_a_failed_line_blames_that_line() -> None:
    loaded = run("import torch.nn as nn\nW = open('not there').read()\nclass ViT(nn.Module):\n    w = W\n")
    assert loaded.error is not None
    assert loaded.error.frame == Frame("vit.py", 2)
    assert "FileNotFoundError" in loaded.error.reason


def test_a_syntax_error_in_the_only_file_is_the_reason() -> None:
    loaded = run("import torch\n\ndef forward(self, x:\n    return x\n")
    assert loaded.error is not None
    assert loaded.error.reason.startswith("syntax error: ")
    assert loaded.error.frame == Frame("vit.py", 3)


def test_a_syntax_error_in_another_file_is_a_note() -> None:
    loaded = run({"vit.py": MODEL, "old.py": "def broken(:\n"})
    assert loaded.error is None
    assert [(one.file, one.line, one.text) for one in loaded.skipped] == [("old.py", 1, "def broken(:")]


def test_a_syntax_error_in_an_imported_file_is_blamed_where_it_is() -> None:
    loaded = run(
        {"vit.py": "from layers import Block\nclass ViT(Block):\n    pass\n", "layers.py": "x = = 3\n"}
    )
    assert loaded.error is not None
    assert loaded.error.frame == Frame("layers.py", 1)


@pytest.mark.parametrize("text", ["x = 1\0", "(" * 300 + ")" * 300, "x = " + "-" * 20_000 + "1"])
def test_absurd_code_is_a_syntax_error(text: str) -> None:
    loaded = run(text)
    assert loaded.error is not None
    assert loaded.error.reason.startswith("syntax error: ")


def test_a_package_with_relative_imports() -> None:
    loaded = run(
        {
            "main.py": "from models import ViT\n"
            "from models.parts.attention import Attention\nnet = ViT()\nnet(3)\n",
            "models/__init__.py": "from .vit import ViT\n",
            "models/vit.py": "import torch.nn as nn\nfrom .parts import attention\nfrom ..config import *\n"
            "class ViT(nn.Module):\n    part = attention.Attention\n    dim = DIM\n",
            "models/parts/attention.py": "from torch import nn\nclass Attention(nn.Module):\n    pass\n",
            "config.py": "DIM = 2 * 12\n",
        }
    )
    assert loaded.error is None
    main = loaded.modules["main.py"]
    assert main.ViT is loaded.modules["models/vit.py"].ViT
    assert main.Attention is main.ViT.part
    assert main.ViT.dim == 24


def test_files_handed_in_without_their_package() -> None:
    loaded = run(
        {
            "vit.py": "from . import part\nfrom .part import ViT as Part\nclass Big(Part):\n    pass\n",
            "part.py": MODEL,
        }
    )
    assert loaded.modules["vit.py"].Big.__mro__[1] is loaded.modules["vit.py"].part.ViT
    loaded = run(
        {
            "vit.py": "from . import part\nfrom .gone import x\nclass Big(part.ViT):\n    pass\n",
            "part.py": MODEL,
        }
    )
    assert loaded.error is None
    assert "no file among those handed in" in skipped(loaded, "from .gone")
    assert loaded.modules["vit.py"].Big(dim=5).head.in_features == 5


def test_absolute_imports_from_beside_the_file_from_src_and_from_elsewhere() -> None:
    part = "from torch import nn\nclass {}(nn.Module):\n    pass\n"
    loaded = run(
        {
            "train/vit.py": "from torch import nn\nimport attention\nimport lib.mlp as mlp\n"
            "from norms import Norm\n"
            "class ViT(nn.Module):\n    parts = attention.Attention, mlp.Mlp, Norm\n",
            "train/attention.py": part.format("Attention"),
            "src/lib/mlp.py": part.format("Mlp"),
            "deep/down/norms.py": part.format("Norm"),
        }
    )
    assert loaded.error is None
    assert len(loaded.modules["train/vit.py"].ViT.parts) == 3


def test_a_package_handed_in_as_its_own_folder_finds_itself() -> None:
    loaded = run(
        {
            "__init__.py": "",
            "vit.py": "from myvit.blocks import Block\n",
            "blocks.py": MODEL + "Block = ViT\n",
        }
    )
    assert loaded.modules["vit.py"].Block is loaded.modules["blocks.py"].ViT


def test_circular_imports_begin_where_the_student_begins() -> None:
    loaded = run(
        {
            "vit.py": "import torch.nn as nn\nfrom a_block import Block\n"
            "class ViT(nn.Module):\n    block = Block\n",
            "a_block.py": "import torch.nn as nn\nimport norm\nclass Block(nn.Module):\n    pass\n",
            "norm.py": "import a_block\nclass Norm:\n    def block(self):\n        return a_block.Block\n",
        }
    )
    assert loaded.skipped == []
    module = loaded.modules
    assert module["norm.py"].Norm().block() is module["vit.py"].ViT.block


def test_names_of_the_standard_library_and_of_installed_packages_do_no_harm() -> None:
    loaded = run(
        {
            "random.py": "import random\nimport torch.nn as nn\nfrom checks import Check\n"
            "class ViT(nn.Module):\n"
            "    def forward(self, x):\n        return x + random.random()\n",
            "checks.py": "class Check:\n    pass\n",
            "torch.py": "import torch\nimport torch.nn as nn\nclass Mine(nn.Module):\n    pass\n",
            "linecache.py": "raise SystemExit\n",
        }
    )
    assert loaded.error is None
    assert isinstance(loaded.modules["random.py"].ViT()(1), float)
    assert issubclass(loaded.modules["torch.py"].Mine, nn.Module)
    assert sys.modules["random"] is random
    assert sys.modules["linecache"] is linecache
    assert "checks" not in sys.modules


def test_a_notebook_is_one_module_and_each_cell_a_file() -> None:
    loaded = load(
        {
            "nb.ipynb[2]": b"%matplotlib inline\nimport torch.nn as nn\nDIM = 16",
            "nb.ipynb[10]": b"model = ViT()\nfor x in range(3):\n    model.train()",
            "nb.ipynb[3]": b"class ViT(nn.Module):\n    def forward(self, x):\n        return x / (DIM - 16)",
            "nb.ipynb[11]": b"def broken(:",
            "nb.ipynb[12]": b"class Late(ViT):\n    pass",
        }
    )
    assert loaded.error is None
    assert list(loaded.modules) == ["nb.ipynb"]
    assert loaded.modules["nb.ipynb"].Late.__mro__[1] is loaded.modules["nb.ipynb"].ViT
    assert [(one.file, one.line) for one in loaded.skipped] == [
        ("nb.ipynb[2]", 1),
        ("nb.ipynb[11]", 1),
        ("nb.ipynb[10]", 1),
        ("nb.ipynb[10]", 2),
    ]
    with pytest.raises(ZeroDivisionError) as caught:
        loaded.modules["nb.ipynb"].ViT()(1)
    last = caught.traceback[-1]
    assert (str(last.frame.code.raw.co_filename), last.lineno + 1) == ("<submission>/nb.ipynb[3]", 3)


def test_constants_are_reported_and_replaced_in_every_file_and_what_follows_from_them() -> None:
    files = {
        "config.py": "IMG_SIZE, PATCH = 224, 16\nDIM: int = 4 * 192\n"
        "N = (IMG_SIZE // PATCH) ** 2\nNAME = 'ViT'\n"
        "LAYERS = [1, 2]\nSEEN = print\n",
        "vit.py": "import torch.nn as nn\nfrom config import *\nclass ViT(nn.Module):\n"
        "    sizes = (IMG_SIZE, DIM, N)\n",
    }
    loaded = run(files)
    assert loaded.constants == {"IMG_SIZE": 224, "PATCH": 16, "DIM": 768, "NAME": "ViT"}
    small = loaded.reload({"IMG_SIZE": 32, "DIM": 24})
    assert small.modules["vit.py"].ViT.sizes == (32, 24, 4)
    assert small.constants["DIM"] == 24
    assert loaded.modules["vit.py"].ViT.sizes == (224, 768, 196)
    assert small.reload({"N": 9}).modules["vit.py"].ViT.sizes == (224, 768, 9)
    assert run(files, DIM=12).modules["vit.py"].ViT.sizes[1] == 12


def test_a_module_used_by_its_name_keeps_its_settings() -> None:
    loaded = run(
        {
            "settings.py": "import math\nROOT = math.sqrt(16)\nUNUSED = math.sqrt(25)\n",
            "vit.py": "import torch.nn as nn\nimport settings as s\nclass ViT(nn.Module):\n"
            "    def forward(self, x):\n        return s.ROOT\n",
        }
    )
    assert loaded.modules["vit.py"].ViT()(0) == 4
    assert not hasattr(loaded.modules["settings.py"], "UNUSED")


def test_source_lines_are_known_so_that_scripting_works() -> None:
    loaded = run(MODEL)
    vit = loaded.modules["vit.py"].ViT
    assert "self.head(x)" in inspect.getsource(vit.forward)
    assert inspect.getsource(vit).startswith("class ViT")


def test_a_late_import_of_an_earlier_load_still_finds_its_own_files() -> None:
    source = (
        "import torch.nn as nn\nclass ViT(nn.Module):\n    def forward(self, x):\n"
        "        from config import DIM\n        return DIM\n"
    )
    loaded = run({"vit.py": source, "config.py": "DIM = 8\n"})
    small = loaded.reload({"DIM": 2})
    assert (loaded.modules["vit.py"].ViT()(0), small.modules["vit.py"].ViT()(0)) == (8, 2)


def test_exceptions_that_cannot_be_shown_are_still_reported() -> None:
    loaded = run(
        """
        class Rude(BaseException):
            def __str__(self):
                raise RuntimeError
        def raises():
            raise Rude
        class ViT(raises()):
            pass
        """
    )
    assert skipped(loaded, "class ViT") == "'class ViT(raises()):' failed: Rude: "


LIGHTNING = """
import torch.nn as nn
import lightning_is_not_here as L
from not_here.registry import register

@register("vit")
class ViT({bases}):
    def __init__(self, dim=8, depth=2):
        super().__init__()
        self.save_hyperparameters(ignore=["depth"])
        self.head = nn.Linear(self.hparams.dim, 3)

    def forward(self, x):
        self.log("mean", x.mean())
        return self.head(x.to(self.device))
"""


@pytest.mark.parametrize("bases", ["L.LightningModule", "L.LightningModule, L.Mixin"])
def test_a_base_that_is_not_installed_is_stood_in_for(bases: str) -> None:
    loaded = run(LIGHTNING.format(bases=bases))
    model = loaded.modules["vit.py"].ViT(dim=4)
    assert isinstance(model, nn.Module)
    assert model.hparams == {"dim": 4}
    assert model(torch.zeros(2, 4)).shape == (2, 3)
    assert "not installed" in skipped(loaded, "import lightning")
    assert loaded.error is None


def test_a_mixin_that_is_not_installed_is_left_out() -> None:
    loaded = run(
        MODEL.replace("(nn.Module)", "(nn.Module, HubMixin)").replace(
            "\nclass", "\nfrom hub_is_not_here import HubMixin\n\nclass"
        )
    )
    assert loaded.modules["vit.py"].ViT.__mro__[1] is nn.Module


@pytest.mark.parametrize("head", ["def main():", "def build(pretrained=False, dim=4):", "def run(args):"])
def test_classes_inside_a_function_are_those_of_the_file(head: str) -> None:
    inside = textwrap.indent(MODEL.strip(), "    ")
    loaded = run(f"{head}\n{inside}\n\n    return ViT()\n\nif __name__ == '__main__':\n    main()\n")
    assert loaded.error is None
    (definition,) = (one for one in Definitions(loaded).all.values() if one.is_module)
    assert definition.frame == Frame("vit.py", 5)
    assert loaded.modules["vit.py"].ViT(dim=4)(torch.zeros(2, 4)).shape == (2, 3)


def test_a_function_that_defines_a_class_beside_others_is_left_alone() -> None:
    loaded = run(MODEL + "\ndef make():\n    class Inner(nn.Module):\n        pass\n    return Inner\n")
    assert set(Definitions(loaded).all) == {"ViT", "make"}


def test_cells_are_run_when_what_they_need_is_there() -> None:
    cells = [
        "WIDTH = HALF * 2",
        "class ViT(Base):\n    width = WIDTH",
        "HALF = 4",
        "import torch.nn as nn",
        "class Base(nn.Module):\n    pass",
    ]
    loaded = run({f"vit.ipynb[{number}]": one for number, one in enumerate(cells)})
    assert loaded.error is None
    assert loaded.skipped == []
    assert loaded.modules["vit.ipynb"].ViT.width == 8


def test_a_name_that_no_cell_binds_is_told() -> None:
    loaded = run(
        {"vit.ipynb[1]": "A = B", "vit.ipynb[2]": "B = A", "vit.ipynb[3]": "class Net(A):\n    pass"}
    )
    assert loaded.error is not None
    assert "is not defined" in skipped(loaded, "A = B")
    assert "is not defined" in skipped(loaded, "B = A")


def test_what_is_registered_and_what_functions_are_named_by_is_there() -> None:
    loaded = run("""
        import torch.nn as nn
        from functools import partial

        NORMS = {}

        class Registry(dict):
            def register(self, name):
                return lambda made: self.setdefault(name, made)

        LAYERS = Registry()
        LAYERS.register("norm")(partial(nn.LayerNorm, eps=1e-6))
        twice = lambda layer: nn.Sequential(layer, layer)

        def build(dim):
            return twice(LAYERS["norm"](dim))

        class ViT(nn.Module):
            def __init__(self, dim=8):
                super().__init__()
                self.norm = LAYERS["norm"](dim)
    """)
    module = loaded.modules["vit.py"]
    assert len(module.build(4)) == 2
    assert module.ViT().norm.eps == 1e-6
