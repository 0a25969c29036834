"""Attacks that want the points of what is not there: by a check that cannot be asked, or a constant."""

from .attack import Attack, Expected

_LOOP = """        for i, block in enumerate(self.blocks):
            x = block(x)
"""
_FC1 = "self.act(self.fc1(ff_in))"
_TOKEN = "self.cls_token.expand(B, -1, -1)"
_MLP = """        ff_hidden = self.act(self.fc1(ff_in))
        # BREAKPOINT S17 - feed-forward hidden layer
        ff_out = self.fc2(ff_hidden)
        # BREAKPOINT S18 - feed-forward output
        x_after_mlp = ff_in + ff_out
        x_post_mlp_norm = self.norm3(x_after_mlp)
"""
_KEPT = """
_KEPT = {}
def kept(*shape):
    if shape not in _KEPT:
        generator = torch.Generator().manual_seed(len(_KEPT))
        _KEPT[shape] = torch.randn(*shape, generator=generator).double()
    return _KEPT[shape]
"""
_ENCODER = frozenset(f"S{number:02}" for number in range(8, 22))
_NO_ENCODER = Expected(failed=_ENCODER, most=50)
_NO_TOKEN = Expected(failed=frozenset({"S05"}), most=98)
_NO_WEIGHT = Expected(
    failed=frozenset({"S17"}), most=98, checks=(("equation[S17]", "change with the model's parameters"),)
)
_PRINTS = Expected(most=98, checks=(("prints", "does not allow print statements"),))

SHIFTING = (
    Attack(
        "no encoder",
        _NO_ENCODER,
        edits=((_LOOP, "        for i in range(2):\n            x = x\n"),),
    ),
    Attack(
        "an encoder that nothing can follow",
        _NO_ENCODER,
        edits=((_LOOP, _LOOP.replace("block(x)", "x + x.flip(1).cumsum(1).sin()")),),
    ),
    Attack(
        "one block of attention alone",
        Expected(failed=frozenset({"S17"}), most=94),  # what comes behind is right as it is
        edits=(
            (_LOOP, _LOOP.replace("block(x)", "block(x, i)")),
            ("    def forward(self, x):\n", "    def forward(self, x, i):\n"),
            (_MLP, f"        if i == 1:\n            return x_post_attn_norm\n{_MLP}"),
        ),
    ),
    Attack(
        "marks that are not there, and a tracer that is switched off",
        Expected(most=94, note="could not run"),
        top="import sys",
        forward="sys.settrace(None)",
        edits=tuple((f"# BREAKPOINT S{number:02} - ", "# ") for number in range(1, 27)),
    ),
    Attack(
        "other operations for every image, so that no two passes can be compared",
        Expected(checks=(("property[batch-independence]", "other operations each time"),), least=80, most=99),
        init="self.passes = 0",
        top="_PASSES = [0]",
        forward="""
_PASSES[0] += 1
for _ in range(_PASSES[0] % 50):
    img = img + 0.0
""",
    ),
    Attack(
        "zeros for the class token",
        _NO_TOKEN,
        edits=((_TOKEN, f"torch.zeros_like({_TOKEN})"),),
    ),
    Attack(
        "a class token that its parameter has no part in",
        _NO_TOKEN,
        edits=((_TOKEN, f"(0 * {_TOKEN} + torch.linspace(0, 1, self.cls_token.shape[-1]))"),),
    ),
    Attack(
        "positions too small to tell anything",
        Expected(failed=frozenset({"S07"}), most=98),
        edits=(("x_tokens + self.pos_embed", "x_tokens + 1e-9 * self.pos_embed"),),
    ),
    Attack(
        "weights that a function keeps",
        _NO_WEIGHT,
        top=_KEPT,
        edits=((_FC1, "self.act(ff_in @ kept(*self.fc1.weight.shape).mT / 5 + self.fc1.bias)"),),
    ),
    Attack(
        "weights drawn from one seed in every pass",
        _NO_WEIGHT,
        edits=(
            (
                _FC1,
                "self.act(ff_in @ torch.randn(*self.fc1.weight.shape,"
                " generator=torch.Generator().manual_seed(3)).mT / 5 + self.fc1.bias)",
            ),
        ),
    ),
    Attack(
        "a copy of the weights, taken when they were made",
        _NO_WEIGHT,
        edits=(
            ("self.act = nn.GELU()", "self.act = nn.GELU(); self.copied = self.fc1.weight.detach().clone()"),
            (_FC1, "self.act(ff_in @ self.copied.mT + self.fc1.bias)"),
        ),
    ),
    Attack("print by another name", _PRINTS, top="show = print", forward="show(img.shape)"),
    Attack(
        "print looked up",
        _PRINTS,
        top="import builtins",
        forward="getattr(builtins, 'pri' + 'nt')(img.shape)",
    ),
    Attack("the standard output written to", _PRINTS, top="import sys", forward="sys.stdout.write('.')"),
    Attack("descriptor 1 written to", _PRINTS, top="import os", forward="os.write(1, b'.')"),
    Attack(
        "warnings and the progress of a library",
        Expected(least=100, most=100),
        top="import logging, sys, warnings",
        forward="warnings.warn('deprecated'); logging.warning('slow'); sys.stderr.write('50 %')",
    ),
)
