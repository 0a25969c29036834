"""Mistakes written by hand into the styles that no rule knows its way about."""

from __future__ import annotations

from .mutant import Mutant, On

keras = On("keras_minded")
jax = On("jax_vmap")
prenorm = On("prenorm")
stacked = On("stacked_weights")
loops = On("token_loops")
generators = On("generators")
batch_last = On("batch_last")
maps = On("token_maps")
feature_first = On("feature_first")
hooks = On("hooks")
vmap_heads = On("vmap_heads")

MORE_STYLES: tuple[Mutant, ...] = (
    prenorm(
        "class-token-and-mean",
        "S24",
        ("return x[:, 0]", "return torch.cat([x[:, 0], x[:, 1:].mean(dim=1)], dim=-1)"),
        ("self.head = nn.Linear(embed_dim,", "self.head = nn.Linear(2 * embed_dim,"),
        kind="variant",
    ),
    prenorm(
        "class-token-averaged-with-mean",
        "S24",
        ("return x[:, 0]", "return 0.5 * (x[:, 0] + x[:, 1:].mean(dim=1))"),
        kind="variant",
    ),
    prenorm("max-pool", "S24", ("return x[:, 0]", "return x.max(dim=1).values"), kind="variant"),
    prenorm(
        "attention-pooling",
        "S24",
        ("return x[:, 0]", "return (self.score(x).softmax(dim=1) * x).sum(dim=1)"),
        (
            "self.head = nn.Linear(embed_dim,",
            "self.score = nn.Linear(embed_dim, 1); self.head = nn.Linear(embed_dim,",
        ),
        kind="variant",
    ),
    prenorm(
        "qk-norm",
        "S12",
        (
            "q, k, v = qkv.unbind(0)",
            "q, k, v = qkv.unbind(0)\n"
            "q, k = (nn.functional.layer_norm(one, one.shape[-1:]) for one in (q, k))",
        ),
        kind="variant",
    ),
    prenorm(
        "rotary-positions",
        "S12",
        (
            "q, k, v = qkv.unbind(0)",
            "q, k, v = qkv.unbind(0)\n"
            "angles = torch.arange(N)[:, None] * 0.3 ** torch.arange(C // self.num_heads // 2)\n"
            "turns = torch.polar(torch.ones_like(angles), angles)\n"
            "pairs = (torch.view_as_complex(one.unflatten(-1, (-1, 2))) for one in (q, k))\n"
            "q, k = (torch.view_as_real(one * turns).flatten(-2) for one in pairs)",
        ),
        kind="variant",
    ),
    prenorm(
        "attention-bias",
        "S13",
        (
            "self.scale = head_dim**-0.5",
            "self.scale = head_dim**-0.5\nself.slope = nn.Parameter(torch.randn(num_heads, 1, 1))",
        ),
        (
            "attn = attn.softmax(dim=-1)",
            "far = (torch.arange(N)[:, None] - torch.arange(N)).abs()\n"
            "attn = (attn + self.slope * far).softmax(dim=-1)",
        ),
        kind="variant",
    ),
    prenorm(
        "conv-stem",
        "S04",
        (
            "self.proj = nn.Conv2d(in_chans,",
            "self.stem = nn.Conv2d(in_chans, in_chans, 3, padding=1)\nself.proj = nn.Conv2d(in_chans,",
        ),
        ("x = self.proj(x)\n        x = x.flatten(2)", "x = self.proj(self.stem(x).relu()).flatten(2)"),
        kind="variant",
    ),
    prenorm(
        "gated-mlp",
        "S17",
        ("self.fc1 = nn.Linear(dim, hidden_dim)", "self.fc1 = nn.Linear(dim, 2 * hidden_dim)"),
        ("self.act = nn.GELU()", "self.act = nn.GLU()"),
        kind="variant",
    ),
    keras("residual-mlp-missing", "S19", ("torch.add(x3, x2)", "x3")),
    keras(
        "cls-appended-last", "S06", ("torch.cat([cls, encoded], dim=1)", "torch.cat([encoded, cls], dim=1)")
    ),
    jax("softmax-over-queries", "S13", ("torch.softmax(logits, dim=-1)", "torch.softmax(logits, dim=-2)")),
    jax("norm2-skipped", "S16", ('h = vmap(lambda row: layer_norm(p["ln2"], row))(x)', "h = x")),
    jax("activation-missing", "S17", ('nn.functional.gelu(dense(p["fc1"], h))', 'dense(p["fc1"], h)')),
    stacked("scale-by-embed-dim", "S12", ("(d // self.n_heads) ** -0.5", "d ** -0.5")),
    stacked("residual-attn-missing", "S16", ("x = x + self.wo(", "x = self.wo(")),
    stacked("relu-instead-of-gelu", "S17", ("F.gelu", "F.relu"), kind="variant"),
    loops(
        "scale-missing",
        "S12",
        ("k[:, :, lo:hi].transpose(1, 2)) / math.sqrt(d)", "k[:, :, lo:hi].transpose(1, 2))"),
    ),
    loops("context-uses-keys", "S14", ("torch.bmm(p, v[:, :, lo:hi])", "torch.bmm(p, k[:, :, lo:hi])")),
    loops(
        "patch-pixels-transposed", "S03", ("window.reshape(B, -1)", "window.mT.reshape(B, -1)"), kind="layout"
    ),
    generators("scale-by-embed-dim", "S12", ("* self.scale)", "* self.q.in_features ** -0.5)")),
    generators("readout-last-token", "S24", ("self.norm(x)[:, 0]", "self.norm(x)[:, -1]")),
    batch_last(
        "softmax-over-queries", "S13", ("torch.softmax(scores, dim=2)", "torch.softmax(scores, dim=1)")
    ),
    batch_last(
        "layernorm-over-tokens",
        "S09",
        ("dim=0, keepdim=True, unbiased=False", "dim=1, keepdim=True, unbiased=False"),
    ),
    batch_last(
        "values-not-projected",
        "S11",
        ("for w in (self.wq, self.wk, self.wv))", "for w in (self.wq, self.wk, nn.Identity()))"),
    ),
    maps(
        "residual-mlp-from-normed",
        "S19",
        ("x = x + self.mlp(self.norm2(x))", "x = self.norm2(x)\nx = x + self.mlp(x)"),
    ),
    feature_first("pos-missing", "S07", ("dim=2) + self.pos", "dim=2)")),
    feature_first(
        "scale-by-head-dim", "S12", ("energy / (d // self.heads) ** 0.5", "energy / (d // self.heads)")
    ),
    feature_first("final-norm-missing", "S23", ("self.final(x[:, :1])", "x[:, :1]")),
    hooks(
        "residual-doubled",
        "S16",
        ("return inputs[0] + output", "return 2 * inputs[0] + output"),
        elsewhere=("S19",),
    ),
    hooks(
        "softmax-missing",
        "S13",
        ("torch.softmax(q @ k.mT * q.size(-1) ** -0.5, -1) @ v", "(q @ k.mT * q.size(-1) ** -0.5) @ v"),
    ),
    hooks("gelu-tanh", "S17", ("F.gelu(o)", "F.gelu(o, approximate='tanh')"), kind="variant"),
    vmap_heads("heads-interleaved-on-merge", "S15", ("out_dims=2)", "out_dims=3)")),
    vmap_heads(
        "mlp-reads-block-input",
        "S16",
        (
            "x = self.attn(self.norm1(x)) + x\nreturn self.mlp(self.norm2(x)) + x",
            "y = self.attn(self.norm1(x)) + x\nreturn self.mlp(self.norm2(x)) + y",
        ),
    ),
)
