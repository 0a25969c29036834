"""What is given to cross entropy, as far as the code tells."""

from __future__ import annotations

import pytest

from vitcheck.submissions.reading.losses import CROSS_ENTROPY, given_a_softmax, given_by_a_model

pytestmark = pytest.mark.fast

GIVEN = [
    "criterion = nn.CrossEntropyLoss()\nout = model(x)\nloss = criterion(out, y)",
    "loss = F.cross_entropy(net(x), y)",
    "loss = nn.CrossEntropyLoss()(net(x), y)",
    "def step(self, x, y):\n    self.loss = CrossEntropyLoss()\n    return self.loss(self.net(x), y)",
]
NOT_GIVEN = [
    "loss = F.cross_entropy(torch.log(net(x)), y)",
    "loss = F.cross_entropy(net(x).log(), y)",
    "out = net(x)\nout = out.log()\nloss = F.cross_entropy(out, y)",
    "def logits(net, x):\n    return net.scores(x)\nloss = F.cross_entropy(logits(net, x), y)",
    "from torch import log\nloss = F.cross_entropy(log(p), y)",
    "loss = F.nll_loss(net(x), y)",
    "loss = criterion(net(x), y)",
]


SOFTMAX = [
    "loss = F.cross_entropy(F.softmax(net(x), dim=1), y)",
    "probs = net(x).softmax(-1)\nloss = nn.CrossEntropyLoss()(probs, y)",
    "soft = nn.Softmax(dim=1)\ncriterion = nn.CrossEntropyLoss()\nloss = criterion(soft(net(x)), y)",
]
NO_SOFTMAX = [
    "loss = F.cross_entropy(F.log_softmax(net(x), dim=1), y)",
    "loss = F.binary_cross_entropy(torch.softmax(net(x), 1), y)",
    "def cross_entropy(p, y):\n    return -p.log()[y]\nloss = cross_entropy(net(x).softmax(-1), y)",
    "p = net(x)\nshown = p.softmax(-1)\nloss = F.cross_entropy(p, y)",
    "loss = F.nll_loss(net(x).softmax(-1).log(), y)",
]


@pytest.mark.parametrize("code", [*SOFTMAX, *NO_SOFTMAX])
def test_a_softmax_that_cross_entropy_takes_is_told_from_other_losses(code: str) -> None:
    lines = [one.line for one in given_a_softmax({"train.py": code.encode()}, CROSS_ENTROPY)]
    assert lines == ([len(code.split("\n"))] if code in SOFTMAX else [])


@pytest.mark.parametrize("code", [*GIVEN, *NOT_GIVEN])
def test_what_a_model_gives_is_told_from_what_is_made_of_it(code: str) -> None:
    lines = [one.line for one in given_by_a_model({"train.py": code.encode()}, CROSS_ENTROPY)]
    assert lines == ([len(code.split("\n"))] if code in GIVEN else [])
