"""What stands around a model: where its sizes live, how it is made, what else is in the file."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import SIZES, Scope, Writer

_SMALL_PRINTS = ("dropout", "ratio")


def asked(scope: Scope) -> list[str]:
    """The sizes of a model, in the order of the pipeline."""
    return [size for size in SIZES if size in scope.asked]


@idiom("sizes", often=5)
def defaulted(w: Writer) -> None:
    w.where_sizes = "arguments"
    w.values["sizes"] = "defaulted"


@idiom("sizes", often=4)
def required(w: Writer) -> None:
    w.where_sizes = "arguments"
    w.values["sizes"] = "required"


@idiom("sizes", often=2)
def defaults_from_constants(w: Writer) -> None:
    w.where_sizes = "arguments"
    w.values["sizes"] = "constants"


@idiom("sizes")
def only_constants(w: Writer) -> None:
    w.where_sizes = "globals"
    w.values["sizes"] = "globals"


@idiom("sizes")
def literals(w: Writer) -> None:
    w.where_sizes = "literals"
    w.values["sizes"] = "literals"


@idiom("sizes")
def config_dataclass(w: Writer) -> None:
    w.where_sizes = "namespace"
    w.values["sizes"] = "dataclass"


@idiom("sizes")
def config_class(w: Writer) -> None:
    w.where_sizes = "namespace"
    w.values["sizes"] = "class"


@idiom("sizes")
def config_dictionary(w: Writer) -> None:
    w.where_sizes = "dictionary"
    w.values["sizes"] = "dictionary"


@idiom("sizes")
def arguments_of_a_command(w: Writer) -> None:
    w.where_sizes = "namespace"
    w.values["sizes"] = "argparse"


def parameters(w: Writer, scope: Scope) -> list[str]:
    """What the model's constructor takes."""
    way = w.values["sizes"]
    names = {size: getattr(w.n, size) for size in asked(scope)}
    if way in ("globals", "literals"):
        return []
    if way in ("defaulted", "constants"):
        value = {size: name.upper() if way == "constants" else w.value(size) for size, name in names.items()}
        colon = w.choices.once_in(4)
        kinds = {size: "float" if size in _SMALL_PRINTS else "int" for size in names}
        return [
            f"{name}: {kinds[size]} = {value[size]}" if colon else f"{name}={value[size]}"
            for size, name in names.items()
        ]
    if way == "required":
        small = [size for size in names if size in _SMALL_PRINTS]
        return [
            *(names[size] for size in names if size not in small),
            *(f"{names[size]}={w.value(size)}" for size in small),
        ]
    if way == "class":
        return [f"{w.n.cfg}={w.n.Config}()"] if w.choices.once_in(2) else [w.n.cfg]
    return [w.n.cfg]


def constants(w: Writer, scope: Scope) -> tuple[list[str], str]:
    """What stands before the classes, and the call that makes the model."""
    way, name = w.values["sizes"], scope.name
    names = {size: getattr(w.n, size) for size in asked(scope)}
    if way in ("defaulted", "required"):
        given = ", ".join(f"{names[size]}={w.value(size)}" for size in names if size not in _SMALL_PRINTS)
        return [], f"{name}()" if way == "defaulted" else f"{name}({given})"
    if way == "literals":
        return [], f"{name}()"
    if way in ("globals", "constants"):
        return [f"{names[size].upper()} = {w.value(size)}" for size in names], f"{name}()"
    return _configured(w, way, names, name)


def _configured(w: Writer, way: str, names: dict[str, str], model: str) -> tuple[list[str], str]:
    config, cfg = w.n.Config, w.n.cfg
    kinds = {size: "float" if size in _SMALL_PRINTS else "int" for size in names}
    if way == "dataclass":
        w.uses("from dataclasses import dataclass")
        fields = [f"    {names[size]}: {kinds[size]} = {w.value(size)}" for size in names]
        return ["\n".join(["@dataclass", f"class {config}:", *fields])], f"{model}({config}())"
    if way == "class":
        fields = [f"    {names[size]} = {w.value(size)}" for size in names]
        return ["\n".join([f"class {config}:", *fields])], f"{model}({config}())"
    if way == "dictionary":
        rows = [f'    "{names[size]}": {w.value(size)},' for size in names]
        return ["\n".join([f"{cfg} = {{", *rows, "}"])], f"{model}({cfg})"
    w.uses("import argparse")
    rows = [
        f'parser.add_argument("--{names[size]}", type={kinds[size]}, default={w.value(size)})'
        for size in names
    ]
    return [
        "\n".join(["parser = argparse.ArgumentParser()", *rows, f"{cfg} = parser.parse_args()"])
    ], f"{model}({cfg})"


@idiom("extra", often=6)
def nothing(w: Writer, entry: str) -> str:
    return ""


@idiom("extra", often=4)
def a_main_block(w: Writer, entry: str) -> str:
    images = f"torch.randn(2, {w.value('channels')}, {w.value('image')}, {w.value('image')})"
    mode = w.choices.among("", "    model.eval()\n")
    return (
        'if __name__ == "__main__":\n'
        f"    model = {entry}\n{mode}    {w.n.x} = {images}\n    out = model({w.n.x})\n"
        f"    {w.choices.among('print(model)', 'print(type(out))', 'assert out is not None')}"
    )


@idiom("extra", often=2)
def training(w: Writer, entry: str) -> str:
    w.uses("import torch.optim as optim", "import torchvision", "import torchvision.transforms as transforms")
    return (
        "def train(epochs=10, batch_size=64, lr=3e-4):\n"
        '    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        "    transform = transforms.Compose([transforms.Resize(224), transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])\n"
        '    trainset = torchvision.datasets.CIFAR10(root="./data", train=True, download=True, transform=transform)\n'
        "    loader = torch.utils.data.DataLoader(trainset, batch_size=batch_size, shuffle=True)\n"
        f"    model = {entry}.to(device)\n"
        "    criterion = nn.CrossEntropyLoss()\n"
        "    optimizer = optim.AdamW(model.parameters(), lr=lr)\n"
        "    for epoch in range(epochs):\n"
        "        running = 0.0\n"
        "        for inputs, labels in loader:\n"
        "            optimizer.zero_grad()\n"
        "            loss = criterion(model(inputs.to(device)), labels.to(device))\n"
        "            loss.backward()\n"
        "            optimizer.step()\n"
        "            running += loss.item()\n"
        '        print(f"epoch {epoch + 1}: {running / len(loader):.4f}")\n\n\n'
        'if __name__ == "__main__":\n    train()'
    )


@idiom("extra")
def a_factory(w: Writer, entry: str) -> str:
    return f"def build_model():\n    return {entry}"


@idiom("extra")
def a_count_of_parameters(w: Writer, entry: str) -> str:
    return (
        "def count_parameters(model):\n    return sum(p.numel() for p in model.parameters() if p.requires_grad)\n\n\n"
        f'if __name__ == "__main__":\n    print(f"{{count_parameters({entry}):,}} parameters")'
    )


@idiom("extra")
def an_image_shown(w: Writer, entry: str) -> str:
    return (
        "def show(img):\n    import matplotlib.pyplot as plt\n    plt.imshow(img.permute(1, 2, 0).cpu().numpy())\n"
        "    plt.axis('off')\n    plt.show()"
    )


@idiom("extra")
def made_at_import(w: Writer, entry: str) -> str:
    images = f"torch.randn(1, {w.value('channels')}, {w.value('image')}, {w.value('image')})"
    return f"model = {entry}\nmodel.eval()\nwith torch.no_grad():\n    y = model({images})\nprint(y)"
