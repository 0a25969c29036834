"""The corpus is what it claims: the bases are right, each mutant is wrong, and no refactoring is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from corpus import BASES, Base, load_base, load_source, randomise, scores
from mutants import MUTANTS, PAIRS, REFACTORINGS, STYLES, Mutant, Pair, Refactoring, source
from torch import Tensor, nn

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.reference.sizes import Sizes
from vitcheck.reference.stages import STAGES

SQUARE = (
    Sizes(batch=2, height=12, width=12, patch=4, embed_dim=24, heads=3, mlp_dim=96, depth=3, classes=7),
    Sizes(
        batch=3, channels=1, height=8, width=8, patch=2, embed_dim=16, heads=2, mlp_dim=64, depth=1, classes=5
    ),
    Sizes(batch=1, height=12, width=12, patch=6, embed_dim=20, heads=5, mlp_dim=60, depth=2, classes=3),
)
WIDE = Sizes(batch=2, height=12, width=16, patch=4, embed_dim=24, heads=3, mlp_dim=96, depth=3, classes=7)


@pytest.fixture(autouse=True)
def _double_precision_on_one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # the tensors are tiny
    yield
    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float32)


def _name(named: Base | Mutant | Pair | Refactoring) -> str:
    return named.name


def _sizes(base: Base) -> Sizes:
    return WIDE if base.rectangular else SQUARE[0]


def _images(sizes: Sizes, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sizes.batch, sizes.channels, sizes.height, sizes.width, generator=generator)


def _build(base: Base, text: str, sizes: Sizes) -> nn.Module:
    model = base.build(load_source(text, base.name), sizes)
    randomise(model)
    return model.eval()


def _tensors(output: object) -> list[Tensor]:
    if isinstance(output, Tensor):
        return [output.detach()]
    items = list(output.values()) if isinstance(output, Mapping) else output
    assert isinstance(items, (list, tuple))
    return [tensor for item in items for tensor in _tensors(item)]


def _second_run(model: nn.Module, sizes: Sizes) -> list[Tensor]:
    """Run twice, so that what a first run leaves behind shows in the second."""
    model(_images(sizes, seed=1))
    return _tensors(model(_images(sizes, seed=2)))


def _largest_difference(a: list[Tensor], b: list[Tensor]) -> float:
    if [tensor.shape for tensor in a] != [tensor.shape for tensor in b]:
        return math.inf
    return max(float((x - y).abs().max()) for x, y in zip(a, b, strict=True))


def _returned(base: Base, text: str) -> list[Tensor]:
    return _second_run(_build(base, text, _sizes(base)), _sizes(base))


@cache
def _returned_by_base(name: str) -> list[Tensor]:
    return _returned(BASES[name], BASES[name].source())


def _without_gradient(model: nn.Module, sizes: Sizes) -> list[str]:
    named = {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
    loss = scores(model(_images(sizes, seed=0))).square().sum()
    gradients = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
    frozen = [name for name, parameter in model.named_parameters() if not parameter.requires_grad]
    return frozen + [name for name, gradient in zip(named, gradients, strict=True) if gradient is None]


def _difference(changed: Mutant | Refactoring) -> float:
    return _largest_difference(
        _returned(BASES[changed.base], source(changed)), _returned_by_base(changed.base)
    )


@pytest.mark.parametrize("sizes", SQUARE)
@pytest.mark.parametrize("base", BASES.values(), ids=_name)
def test_base_gives_finite_scores_at_any_size(base: Base, sizes: Sizes) -> None:
    output = scores(_build(base, base.source(), sizes)(_images(sizes, seed=0)))
    assert output.shape == (sizes.batch, sizes.classes)
    assert output.isfinite().all()
    assert output.std() > 0.01


@pytest.mark.parametrize("base", [base for base in BASES.values() if base.rectangular], ids=_name)
def test_rectangular_base_takes_a_wide_image(base: Base) -> None:
    output = scores(_build(base, base.source(), WIDE)(_images(WIDE, seed=0)))
    assert output.shape == (WIDE.batch, WIDE.classes)


@pytest.mark.parametrize("base", BASES.values(), ids=_name)
def test_base_treats_each_image_alone(base: Base) -> None:
    sizes = SQUARE[0]
    model = _build(base, base.source(), sizes)
    images = _images(sizes, seed=0)
    alone = torch.cat([scores(model(image[None])) for image in images])
    torch.testing.assert_close(scores(model(images)), alone, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("base", BASES.values(), ids=_name)
def test_every_parameter_of_a_base_learns(base: Base) -> None:
    sizes = SQUARE[0]
    model = _build(base, base.source(), sizes)
    assert _without_gradient(model, sizes) == []


def test_base_module_is_named_as_a_submission() -> None:
    code = load_base("report").ViT.forward.__code__
    assert code.co_filename == "<submission>/report.py"


def _attention(x: Tensor, weights: Mapping[str, Tensor], heads: int) -> Tensor:
    """Multi-head attention one head and one query at a time (Vaswani et al. 2017, section 3.2)."""
    width = x.shape[-1] // heads
    query, key, value = F.linear(x, weights["qkv.weight"], weights["qkv.bias"]).chunk(3, dim=-1)
    contexts = []
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        rows = [
            torch.einsum("bjd,bd->bj", key[..., part], query[:, i, part]) / math.sqrt(width)
            for i in range(x.shape[1])
        ]
        contexts.append(
            torch.stack([row.softmax(-1)[:, None] @ value[..., part] for row in rows], 1).squeeze(2)
        )
    return F.linear(torch.cat(contexts, -1), weights["proj.weight"], weights["proj.bias"])


def _within(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}


def _norm(x: Tensor, weights: Mapping[str, Tensor], name: str, eps: float) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    standardised = centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()
    return standardised * weights[name + ".weight"] + weights[name + ".bias"]


def _linear(x: Tensor, weights: Mapping[str, Tensor], name: str) -> Tensor:
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def _mlp(x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
    hidden = _linear(x, weights, "fc1")
    return _linear(hidden * torch.special.ndtr(hidden), weights, "fc2")


def _report_block(x: Tensor, weights: Mapping[str, Tensor], heads: int) -> Tensor:
    x = _norm(x + _attention(_norm(x, weights, "norm1", 1e-5), weights, heads), weights, "norm2", 1e-5)
    return _norm(x + _mlp(x, weights), weights, "norm3", 1e-5)


def _prenorm_block(x: Tensor, weights: Mapping[str, Tensor], heads: int) -> Tensor:
    x = x + _attention(_norm(x, weights, "norm1", 1e-6), _within(weights, "attn."), heads)
    return x + _mlp(_norm(x, weights, "norm2", 1e-6), _within(weights, "mlp."))


def _recomputed(
    images: Tensor, weights: Mapping[str, Tensor], sizes: Sizes, block: Callable[..., Tensor]
) -> Tensor:
    side, (rows, columns) = sizes.patch, sizes.grid
    patches = [
        images[:, :, r * side : (r + 1) * side, c * side : (c + 1) * side].flatten(1)
        for r in range(rows)
        for c in range(columns)
    ]
    kernel = weights["patch_embed.proj.weight"].flatten(1)
    embedded = torch.stack(patches, 1) @ kernel.T + weights["patch_embed.proj.bias"]
    x = torch.cat([weights["cls_token"].repeat(sizes.batch, 1, 1), embedded], 1) + weights["pos_embed"]
    for i in range(sizes.depth):
        x = block(x, _within(weights, f"blocks.{i}."), sizes.heads)
    return x[:, 0]


@pytest.mark.parametrize(("name", "block"), [("report", _report_block), ("prenorm", _prenorm_block)])
def test_main_bases_follow_the_formulas(name: str, block: Callable[..., Tensor]) -> None:
    base = BASES[name]
    model = _build(base, base.source(), WIDE)
    images, weights = _images(WIDE, seed=0), model.state_dict()
    token = _recomputed(images, weights, WIDE, block)
    if name == "prenorm":
        token = _norm(token, weights, "norm", 1e-6)
    expected = _linear(token, weights, "head")
    torch.testing.assert_close(scores(model(images)), expected, rtol=1e-10, atol=1e-10)


# Where the class token stands changes no score, as long as its position goes with it.
_MOVED_ALONE = "keeping its position"
_VISIBLE = [one for one in MUTANTS if not one.invisible and not one.crashes and one.where != _MOVED_ALONE]


@pytest.mark.parametrize("mutant", _VISIBLE, ids=_name)
def test_mutant_changes_what_the_model_returns(mutant: Mutant) -> None:
    assert _difference(mutant) > 1e-9


_SILENT = "nothing-returned"
_SAME = [mutant for mutant in MUTANTS if mutant.invisible and mutant.id != _SILENT]


@pytest.mark.parametrize("mutant", _SAME, ids=_name)
def test_invisible_mutant_returns_the_same(mutant: Mutant) -> None:
    assert _difference(mutant) < 1e-10


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.id == _SILENT], ids=_name)
def test_silent_mutant_returns_nothing(mutant: Mutant) -> None:
    base = BASES[mutant.base]
    sizes = _sizes(base)
    assert _build(base, source(mutant), sizes)(_images(sizes, seed=0)) is None


_STARVING = ("cls-detached", "path-detached", "no-grad-in-blocks", "unused-parameter", "requires-grad-off")


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.id in _STARVING], ids=_name)
def test_gradient_mutant_leaves_a_parameter_without_gradient(mutant: Mutant) -> None:
    base = BASES[mutant.base]
    assert _without_gradient(_build(base, source(mutant), _sizes(base)), _sizes(base)) != []


@pytest.mark.parametrize("mutant", [one for one in MUTANTS if one.id == "residual-in-place"], ids=_name)
def test_in_place_residual_breaks_the_backward_pass(mutant: Mutant) -> None:
    base = BASES[mutant.base]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        _without_gradient(_build(base, source(mutant), _sizes(base)), _sizes(base))


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.crashes], ids=_name)
def test_crashing_mutant_raises_in_forward(mutant: Mutant) -> None:
    base = BASES[mutant.base]
    model = _build(base, source(mutant), _sizes(base))
    with pytest.raises((RuntimeError, AttributeError, TypeError)):
        model(_images(_sizes(base), seed=0))


@pytest.mark.parametrize("pair", PAIRS, ids=_name)
def test_each_of_two_mistakes_changes_what_the_model_returns(pair: Pair) -> None:
    base = BASES[pair.base]
    both = _returned(base, source(pair))
    for one in (pair.first, pair.second):
        assert _largest_difference(both, _returned(base, source(one))) > 1e-9


@pytest.mark.parametrize("refactoring", REFACTORINGS, ids=_name)
def test_refactoring_changes_no_value(refactoring: Refactoring) -> None:
    assert source(refactoring) != BASES[refactoring.base].source()
    assert _difference(refactoring) < 1e-10


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.invisible], ids=_name)
def test_invisible_mutant_is_another_program(mutant: Mutant) -> None:
    assert source(mutant) != BASES[mutant.base].source()


def test_mutants_cover_the_catalogue_and_the_bases_broadly() -> None:
    assert len(MUTANTS) >= 650
    assert len({mutant.id for mutant in MUTANTS}) >= 160
    assert {mutant.kind for mutant in MUTANTS} == {"error", "variant", "layout"}
    assert {mutant.base for mutant in MUTANTS} >= {*STYLES}
    assert len(PAIRS) >= 40
    assert len(REFACTORINGS) >= 60


def test_a_mutant_is_known_by_its_id_and_its_stage() -> None:
    labels = {one.label for one in STAGES}
    for mutant in MUTANTS:
        assert {mutant.id, *mutant.accepted} <= {*mistakes()}, mutant.name
        assert {mutant.stage, *mutant.elsewhere} <= {*labels, ""}, mutant.name


def test_an_edit_that_no_longer_fits_its_base_is_named() -> None:
    stale = Mutant("scale-missing", "report", (("no such line", ""),), "S12")
    with pytest.raises(ValueError, match="'no such line' stands 0 times"):
        source(stale)
