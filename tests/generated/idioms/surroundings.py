"""What stands around a model: what it derives from, how it is made, what else is in the file."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer


@idiom("base", often=16)
def library_module(w: Writer) -> str:
    return "nn.Module"


@idiom("base")
def base_that_counts(w: Writer) -> str:
    w.helpers["BaseModel"] = (
        "class BaseModel(nn.Module):\n"
        "    def num_params(self):\n"
        "        return sum(p.numel() for p in self.parameters() if p.requires_grad)\n\n"
        "    def save(self, path):\n"
        "        torch.save(self.state_dict(), path)"
    )
    return "BaseModel"


@idiom("base")
def base_that_initialises(w: Writer) -> str:
    w.helpers["BaseNet"] = (
        "class BaseNet(nn.Module):\n"
        "    def init_weights(self, m):\n"
        "        if isinstance(m, nn.Linear):\n"
        "            nn.init.trunc_normal_(m.weight, std=0.02)\n"
        "            if m.bias is not None:\n"
        "                nn.init.zeros_(m.bias)"
    )
    w.make("self.apply(self.init_weights)")
    return "BaseNet"


def _images(w: Writer, count: int) -> str:
    return f"torch.randn({count}, {w.value('channels')}, {w.value('image')}, {w.value('image')})"


def _scores(w: Writer, out: str) -> str:
    return w.facts.logits.format(out=out)


@idiom("extra", often=6)
def nothing(w: Writer, entry: str) -> str:
    return ""


@idiom("extra", often=4)
def a_main_block(w: Writer, entry: str) -> str:
    mode = w.choices.among("", "    model.eval()\n")
    shown = w.choices.among(
        "print(model)", f"print({_scores(w, 'out')}.shape)", f"print({_scores(w, 'out')})"
    )
    return (
        'if __name__ == "__main__":\n'
        f"    model = {entry}\n{mode}    {w.n.x} = {_images(w, 2)}\n    out = model({w.n.x})\n    {shown}"
    )


def _dataset(w: Writer) -> str:
    """Data with as many classes as the model has."""
    named = {"10": "CIFAR10", "100": "CIFAR100"}
    if (classes := w.values["classes"]) in named:
        return f'torchvision.datasets.{named[classes]}(root="./data", train=True, download=True, transform=transform)'
    return f'torchvision.datasets.ImageFolder("{w.choices.among("data/train", "./imagenet/train")}", transform=transform)'


@idiom("extra", often=2)
def training(w: Writer, entry: str) -> str:
    w.uses("import torch.optim as optim", "import torchvision", "import torchvision.transforms as transforms")
    size = f"({w.value('image')}, {w.value('image')})"
    return (
        "def train(epochs=10, batch_size=64, lr=3e-4):\n"
        '    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
        f"    transform = transforms.Compose([transforms.Resize({size}), transforms.ToTensor(), transforms.Normalize((0.5,), (0.5,))])\n"
        f"    trainset = {_dataset(w)}\n"
        "    loader = torch.utils.data.DataLoader(trainset, batch_size=batch_size, shuffle=True)\n"
        f"    model = {entry}.to(device)\n"
        "    criterion = nn.CrossEntropyLoss()\n"
        "    optimizer = optim.AdamW(model.parameters(), lr=lr)\n"
        "    for epoch in range(epochs):\n"
        "        running = 0.0\n"
        "        for inputs, labels in loader:\n"
        "            optimizer.zero_grad()\n"
        "            outputs = model(inputs.to(device))\n"
        f"            loss = criterion({_scores(w, 'outputs')}, labels.to(device))\n"
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
def weights_downloaded(w: Writer, entry: str) -> str:
    url = "https://example.org/checkpoints/vit.pth"
    return (
        "def load_pretrained():\n"
        f"    model = {entry}\n"
        f'    state = torch.hub.load_state_dict_from_url("{url}", map_location="cpu")\n'
        "    model.load_state_dict(state)\n    return model"
    )


@idiom("extra")
def a_count_of_parameters(w: Writer, entry: str) -> str:
    return (
        "def count_parameters(model):\n    return sum(p.numel() for p in model.parameters() if p.requires_grad)\n\n\n"
        f'if __name__ == "__main__":\n    print(f"{{count_parameters({entry.replace(chr(34), chr(39))}):,}} parameters")'
    )


@idiom("extra")
def an_image_shown(w: Writer, entry: str) -> str:
    return (
        "def show(img):\n    import matplotlib.pyplot as plt\n    plt.imshow(img.permute(1, 2, 0).cpu().numpy())\n"
        "    plt.axis('off')\n    plt.show()"
    )


@idiom("extra")
def made_at_import(w: Writer, entry: str) -> str:
    return f"model = {entry}\nmodel.eval()\nwith torch.no_grad():\n    y = model({_images(w, 1)})\nprint({_scores(w, 'y')}.shape)"
