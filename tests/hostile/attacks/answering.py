"""Attacks on the answer: what is returned beside it, in place of it, and only while nobody looks."""

from .attack import Attack, Expected

_ANSWER = Expected(failed=frozenset({"S25"}), most=98)
_PROBABILITIES = Expected(failed=frozenset({"S26"}), most=98.5)
_WATCHED = Expected("refused", "different logits when it is being recorded")
_BESIDE = Expected(failed=frozenset({"S02", "S12", "S24", "S25"}), most=30)

_LOOKS = "from torch._C import _len_torch_dispatch_stack as watched\n"
_DRAWS = "import itertools, random\nCOUNT, RNG = itertools.count(), random.Random()\n"
_NETWORK = "other = (img.flatten(1)[:, :1] * torch.arange(1.0, logits.shape[1] + 1)).sin()\n"

ANSWERING = (
    Attack(
        "the right pipeline first, another network under the name of logits",
        _BESIDE,
        answer=f"""
{_NETWORK}
constant = torch.full_like(logits, 1 / logits.shape[1])
return {{"features": logits, "logits": other, "probs": constant, "label": logits.argmin(-1)}}
""",
    ),
    Attack(
        "another network with an axis of one under the name of logits",
        _BESIDE,
        answer=f"{_NETWORK}\nreturn {{'features': logits, 'logits': other.unsqueeze(1)}}",
    ),
    Attack(
        "other scores as an attribute, the right ones first",
        _ANSWER,
        top="from types import SimpleNamespace",
        answer="return SimpleNamespace(x=logits, logits=logits.flip(-1))",
    ),
    Attack(
        "other scores as a property, the right ones first",
        _ANSWER,
        top="""
class Answer:
    def __init__(self, x, other): self.x, self._other = x, other
    @property
    def logits(self): return self._other
""",
        answer="return Answer(logits, logits.flip(-1))",
    ),
    Attack("other scores second", _ANSWER, answer="return logits, logits.flip(-1)"),
    Attack("constant probabilities", _PROBABILITIES, answer="probs = torch.full_like(probs, 0.1)"),
    Attack(
        "logits in complex numbers, right probabilities",
        _ANSWER,
        answer="return {'logits': logits.flip(-1) + 1j, 'probs': probs}",
    ),
    Attack(
        "the class with the lowest score as the label",
        _ANSWER,
        answer="return {'logits': logits, 'label': logits.argmin(-1)}",
    ),
    Attack(
        "a random number beside scores that are right when they are watched",
        _WATCHED,
        top=_LOOKS + _DRAWS,
        answer="""
logits = logits if watched() else logits.flip(-1)
return logits, torch.tensor(RNG.random())
""",
    ),
    Attack(
        "scores that vary a little, and are right when they are watched",
        _WATCHED,
        top=_LOOKS + _DRAWS,
        answer="return (logits if watched() else logits.flip(-1)) + 1e-12 * RNG.random()",
    ),
    Attack(
        "scores that vary from pass to pass",
        Expected(
            failed=frozenset({"S25"}), checks=(("property[repeatable]", "over the same image"),), most=97
        ),
        top=_DRAWS,
        answer="logits = logits + RNG.random()",
    ),
    Attack(
        "an exception whenever it is not watched",
        Expected("crashed", "unless its operations are recorded"),
        top=_LOOKS,
        answer="if not watched(): raise ValueError",
    ),
    Attack(
        "an exception without gradients, and others scores with them when it is not watched",
        _WATCHED,
        top=_LOOKS,
        answer="""
if not torch.is_grad_enabled(): raise ValueError
logits = logits if watched() else logits.flip(-1)
""",
    ),
    Attack(
        "other scores only while it learns",
        _WATCHED,
        top=_LOOKS,
        answer="if torch.is_grad_enabled() and not watched(): logits = logits.flip(-1)",
    ),
    Attack(
        "other scores only at other sizes",
        _WATCHED,
        top=_LOOKS,
        answer="if img.shape[1] != 1 and not watched(): logits = logits.flip(-1)",
    ),
    Attack(
        "another number of operations in each pass",
        Expected(
            failed=frozenset({"S02", "S25"}),
            checks=(("equation[S02]", "other operations each time"),),
            most=20,
        ),
        top=_DRAWS,
        forward="for op in RNG.choices((torch.add, torch.sub), k=RNG.randrange(50, 99)): img = op(img, 0)",
    ),
    Attack(
        "another number of operations behind the scores",
        Expected(checks=(("property[batch-independence]", "other operations each time"),), most=99),
        top=_DRAWS,
        answer="for _ in range(-next(COUNT) % 97): logits = logits + 0",
    ),
    Attack(
        "small integers, sparse and empty tensors beside the scores",
        Expected(least=100, most=100),
        answer="""
mask = (x_last[..., 0] > 0).to(torch.int8)
sparse = x_last[..., 0].to_sparse()
return {"logits": logits, "probs": probs, "mask": mask, "sparse": sparse, "none": mask[:0]}
""",
    ),
)
