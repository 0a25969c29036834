"""Mistakes from the second block to the class probabilities: S21 to S26."""

from __future__ import annotations

from .mutant import On

report, prenorm = On("report"), On("prenorm")

_BLOCKS = "nn.ModuleList([EncoderBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)])"
_LOOP = "for i, block in enumerate(self.blocks):"
_MARK = "# BREAKPOINT S21 - output of block 2"
_BLIND = ("every-block-reads-first-input", "block-result-discarded")

_DEPTH = (
    report(
        "blocks-share-one-instance",
        "S21",
        (_BLOCKS, "nn.ModuleList([EncoderBlock(embed_dim, num_heads, mlp_ratio)] * num_blocks)"),
        kind="variant",
    ),
    report(
        "layer-shared-by-blocks",
        "S21",
        (
            f"self.blocks = {_BLOCKS}",
            f"self.blocks = {_BLOCKS}\nfor block in self.blocks:\n    block.fc1 = self.blocks[0].fc1",
        ),
    ),
    report(
        "blocks-identical-init",
        "S21",
        ("import math\n", "import copy\nimport math\n"),
        (
            f"self.blocks = {_BLOCKS}",
            "block = EncoderBlock(embed_dim, num_heads, mlp_ratio)\n"
            "self.blocks = nn.ModuleList([copy.deepcopy(block) for _ in range(num_blocks)])",
        ),
        kind="variant",
        invisible=True,
    ),
    report(
        "blocks-in-python-list",
        "",
        (_BLOCKS, "[EncoderBlock(embed_dim, num_heads, mlp_ratio) for _ in range(num_blocks)]"),
    ),
    report("every-block-reads-first-input", "S21", ("x = block(x)", "x = block(x_pos)"), accepted=_BLIND),
    prenorm(
        "every-block-reads-first-input",
        "S21",
        ("for blk in self.blocks:\nx = blk(x)", "tokens = x\nfor blk in self.blocks:\n    x = blk(tokens)"),
        accepted=_BLIND,
    ),
    report("block-result-discarded", "S21", ("x = block(x)", "block(x)"), accepted=_BLIND),
    prenorm("block-result-discarded", "S21", ("x = blk(x)", "blk(x)"), accepted=_BLIND),
    report("depth-off-by-one", "S22", (_LOOP, "for i, block in enumerate(self.blocks[:-1]):")),
    prenorm("depth-off-by-one", "S22", ("for blk in self.blocks:", "for blk in self.blocks[:-1]:")),
    prenorm("depth-off-by-one", "S22", ("range(depth)", "range(depth + 1)"), where="one more"),
    report(
        "hard-coded-first-blocks",
        "S21",
        (
            f"{_LOOP}\nx = block(x)\nif i == 1:\nx_block2_out = x\n{_MARK}\n",
            f"x_block2_out = self.blocks[1](self.blocks[0](x))\n{_MARK}\n"
            "x = x_block2_out\nfor block in self.blocks[2:]:\n    x = block(x)\n",
        ),
        invisible=True,
    ),
)

_PERMUTE = "x = self.ln_post(x.permute(1, 0, 2))"

_SEQUENCE = (
    prenorm("final-norm-missing", "S23", ("x = self.norm(x)\n", "")),
    prenorm("final-norm-twice", "S23", ("x = self.norm(x)\n", "x = self.norm(self.norm(x))\n")),
    prenorm("head-missing", "S25", ("return self.head(x)", "return x")),
    prenorm(
        "final-norm-inside-loop",
        "S21",
        ("x = blk(x)\nx = self.norm(x)", "x = self.norm(blk(x))"),
        elsewhere=("S19",),  # where the norm stands, at the end of each block
    ),
    prenorm(
        "final-norm-after-readout",
        "S23",
        ("x = self.norm(x)\nreturn x[:, 0]", "return self.norm(x[:, 0])"),
        kind="variant",
        invisible=True,
    ),
    report(
        "extra-final-norm",
        "S23",
        (f"self.blocks = {_BLOCKS}", f"self.blocks = {_BLOCKS}\nself.norm = nn.LayerNorm(embed_dim)"),
        ("final_seq = x_last", "final_seq = self.norm(x_last)"),
        kind="variant",
    ),
    report(
        "stage-recomputed-beside-model",
        "S23",
        ("return {", "shown = x_tokens\nfor block in self.blocks:\n    shown = block(shown)\nreturn {"),
        ('"final_seq": final_seq', '"final_seq": shown'),
    ),
)

_READ = "cls_rep = final_seq[:, 0]"

_CLASS_REPRESENTATION = (
    report("readout-last-token", "S24", (_READ, "cls_rep = final_seq[:, -1]")),
    prenorm("readout-last-token", "S24", ("return x[:, 0]", "return x[:, 1]")),
    report("readout-batch-index", "S24", (_READ, "cls_rep = final_seq[0]"), accepted=("permute-discarded",)),
    prenorm("readout-batch-index", "S24", ("return x[:, 0]", "return x[0]"), accepted=("permute-discarded",)),
    On("sequence_first")(
        "permute-discarded",
        "S24",
        (_PERMUTE, "x.permute(1, 0, 2)\nx = self.ln_post(x)"),
        accepted=("readout-batch-index",),
    ),
    report("mean-pool-patches", "S24", (_READ, "cls_rep = final_seq[:, 1:].mean(dim=1)"), kind="variant"),
    prenorm("mean-pool-patches", "S24", ("return x[:, 0]", "return x[:, 1:].mean(dim=1)"), kind="variant"),
    report("mean-pool-includes-cls", "S24", (_READ, "cls_rep = final_seq.mean(dim=1)"), kind="variant"),
    report("readout-before-encoder", "S24", (_READ, "cls_rep = x_pos[:, 0]")),
    report("squeeze-drops-batch", "S24", (_READ, "cls_rep = final_seq[:, :1].squeeze()"), invisible=True),
)

_HEAD = "logits = self.head(cls_rep)"
_PROBS = "probs = logits.softmax(dim=-1)"

_SCORES = (
    # where scores are all that is returned, a softmax may as well be S26
    report("softmax-in-logits", "S25", (_HEAD, _HEAD + ".softmax(dim=-1)")),
    On("report_monolith")(
        "softmax-in-logits", "S25", ("x = self.classifier(x)", "x = self.classifier(x).softmax(dim=-1)")
    ),
    On("report_monolith")(
        "relu-on-logits", "S25", ("x = self.classifier(x)", "x = F.relu(self.classifier(x))")
    ),
    report("relu-on-logits", "S25", (_HEAD, "logits = torch.relu(self.head(cls_rep))")),
    prenorm("relu-on-logits", "S25", ("return self.head(x)", "return torch.relu(self.head(x))")),
    report("log-softmax-in-logits", "S25", (_HEAD, _HEAD + ".log_softmax(dim=-1)"), kind="variant"),
    report("head-on-all-tokens", "S25", (_HEAD, "logits = self.head(final_seq)")),
    prenorm("head-on-all-tokens", "S25", ("return x[:, 0]", "return x")),
    report(
        "head-hidden-layer",
        "S25",
        (
            "self.head = nn.Linear(embed_dim, num_classes)",
            "hidden = nn.Linear(embed_dim, embed_dim)\n"
            "self.head = nn.Sequential(hidden, nn.Tanh(), nn.Linear(embed_dim, num_classes))",
        ),
        kind="variant",
    ),
    prenorm(
        "probabilities-returned",
        "S25",
        ("return self.head(x)", "return self.head(x).softmax(dim=-1)"),
        kind="variant",
    ),
    prenorm("classes-returned", "S25", ("return self.head(x)", "return self.head(x).argmax(dim=-1)")),
    report("class-softmax-over-batch", "S26", (_PROBS, "probs = logits.softmax(dim=0)")),
    report("probs-are-log-probs", "S26", (_PROBS, "probs = logits.log_softmax(dim=-1)")),
    report("probs-sigmoid", "S26", (_PROBS, "probs = torch.sigmoid(logits)")),
    report("argmax-over-batch", "S26", (_PROBS, "probs = logits.softmax(dim=-1).argmax(dim=0)")),
)

READOUT = _DEPTH + _SEQUENCE + _CLASS_REPRESENTATION + _SCORES
