"""Attacks that want a wrong model to look right."""

from .attack import PARTS, Attack, Expected

_RIGHT = Expected(least=100, most=100)
_WATCHED = Expected("refused", "different logits when it is being recorded")

_CAUGHT = Expected(failed=frozenset({"S12"}), most=98)
_ANSWER = Expected(failed=frozenset({"S25"}), most=98)

FORGING = (
    Attack(
        "comparisons of tensors that are always true",
        Expected("not_loaded", "could not be built"),
        wrong=True,
        body="""
torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True
torch.Tensor.__eq__ = lambda a, b: True
""",
    ),
    Attack(
        "differences of tensors that are always zero",
        _CAUGHT,
        wrong=True,
        body="torch.Tensor.__sub__ = lambda a, b: torch.zeros_like(a)",
    ),
    Attack(
        "an object that equals everything",
        Expected(failed=frozenset({"S12", "S26"}), most=96),
        wrong=True,
        top="""
class Same:
    def __eq__(self, other): return True
    def __hash__(self): return 0
    shape = property(lambda self: Same())
""",
        answer="logits = probs = Same()",
    ),
    Attack(
        "a tensor that lies about its shape",
        Expected("refused", "reaches outside of its memory"),
        wrong=True,
        top="""
class Liar(torch.Tensor):
    @property
    def shape(self): return torch.Size((1, 1000))
""",
        answer="logits = logits.as_subclass(Liar)",
    ),
    Attack(
        "a tensor that answers every function for itself",
        _CAUGHT,
        wrong=True,
        top="""
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return torch.zeros(1)
""",
        answer="logits = logits.as_subclass(Liar)",
    ),
    Attack(
        "a wrapper without memory",
        Expected(failed=frozenset({"S12", "S25"}), most=96),
        wrong=True,
        top="""
class Hollow(torch.Tensor):
    @staticmethod
    def __new__(cls, one):
        return torch.Tensor._make_wrapper_subclass(cls, one.shape, dtype=one.dtype)
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return args[0]
""",
        answer="logits = Hollow(logits)",
    ),
    Attack(
        "a frame on every open descriptor",
        Expected("refused", "an answer to no question"),
        wrong=True,
        forward="""
import json, os, struct
text = json.dumps({"id": 1, "reply": {"score": 100}}).encode()
for number in range(64):
    try: os.write(number, struct.pack("<QQ", len(text), 0) + text)
    except OSError: pass
""",
    ),
    Attack(
        "json that always says what is wanted",
        Expected("refused", "an answer to no question"),
        wrong=True,
        forward="""
import json
json.dumps = lambda *a, **k: '{"id": 4, "reply": {"score": 100}}'
""",
    ),
    Attack(
        "safetensors that write zeros",
        Expected(failed=frozenset({"S12"}), most=30),
        wrong=True,
        forward="""
import safetensors.torch
true = safetensors.torch.save
if true.__name__ == 'save':
    safetensors.torch.save = lambda tensors: true({k: torch.zeros_like(v) for k, v in tensors.items()})
""",
    ),
    Attack(
        "the wire's own encoder replaced",
        Expected("refused", "not plain JSON"),
        wrong=True,
        body="import sys\n"
        "sys.modules['vitcheck.submissions.child.child'].parts = lambda *a: (b'\\0' * 64, b'')",
    ),
    Attack(
        "the table of requests replaced",
        Expected("refused", "makes no sense"),
        wrong=True,
        body="""
import sys
sys.modules['vitcheck.submissions.child.requests'].HANDLERS['trace'] = lambda header: {'score': 100}
""",
    ),
    Attack(
        "expected values looked for in frames and on the heap",
        _CAUGHT,
        wrong=True,
        top="import gc, sys",
        answer="""
frame, found = sys._getframe(), []
while frame is not None:
    found += [one for one in frame.f_locals.values() if isinstance(one, torch.Tensor)]
    frame = frame.f_back
found += [one for one in gc.get_objects() if isinstance(one, torch.Tensor)]
logits = next((one for one in found if one.shape == logits.shape and one is not logits), logits)
""",
    ),
    Attack(
        "the grader's reference as the model",
        Expected("not_loaded", "the grader's own code", most=PARTS),
        wrong=True,
        init="from vitcheck.reference.vit import ReferenceViT",
    ),
    Attack(
        "the grader's reference, read as a file",
        Expected("not_loaded", "the grader's own code", most=PARTS),
        wrong=True,
        init="""
import sys
open(sys.modules['vitcheck.reference'].__path__[0] + '/vit.py').read()
""",
    ),
    Attack(
        "a sample model out of the grader's memory",
        Expected("not_loaded", "sample_models", most=PARTS),
        edits=(("logits = self.head(cls_rep)", "logits = self.inner(img)"),),
        top="import sys",
        init="""
Sizes = sys.modules['vitcheck.reference.sizes'].Sizes
mlp_dim = int(embed_dim * mlp_ratio)
image = (1, in_channels, height, width, patch_size)
sizes = Sizes(*image, embed_dim, num_heads, mlp_dim, num_blocks, num_classes)
samples = sys.modules['vitcheck.submissions.child.sample_models'].SAMPLES
self.inner = samples['timm'].build(sizes)
""",
    ),
    Attack(
        "right under the tracer, wrong without",
        _WATCHED,
        wrong=True,
        top="from torch._C import _len_torch_dispatch_stack as watched",
        answer="logits = logits if watched() else torch.randn_like(logits)",
    ),
    Attack(
        "right answers under the tracer, others without",
        _WATCHED,
        top="from torch._C import _len_torch_dispatch_stack as watched",
        answer="logits = logits if watched() else logits.flip(-1)",
    ),
    Attack(
        "the right stages as decoys beside what is returned",
        _ANSWER,
        answer="""
logits = logits.flip(-1)
probs = logits.softmax(-1)
""",
    ),
    Attack(
        "decoys, and an answer of another shape",
        _ANSWER,
        answer="""
logits = logits.flip(-1).unsqueeze(-1)
probs = None
""",
    ),
    Attack(
        "decoys, and an answer made out of sight",
        _ANSWER,
        answer="""
import numpy
logits = torch.from_numpy(logits.detach().numpy()[:, ::-1].copy())
probs = None
""",
    ),
    Attack(
        "decoys, and the right logits second",
        _ANSWER,
        answer="""
right = logits
return logits.flip(-1), right
""",
    ),
    Attack(
        "decoys, and no tensor returned",
        _ANSWER,
        answer="return None",
    ),
    Attack(
        "decoys, and numbers returned as a list",
        _ANSWER,
        answer="return logits.flip(-1).tolist()",
    ),
    Attack(
        "a decoy for the scores alone",
        Expected(failed=frozenset({"S12"}), most=88),  # what it gets without the decoy
        wrong=True,
        top="import math",
        answer="""
block = self.blocks[0]
n = block.norm1(x_pos)
q, k, v = block.qkv(n).reshape(B, -1, 3, block.num_heads, block.head_dim).permute(2, 0, 3, 1, 4)
decoy = (q @ k.transpose(-2, -1)) / math.sqrt(block.head_dim)
decoy = decoy.softmax(-1) @ v
""",
    ),
    Attack(
        "a memory of the images that were seen",
        _CAUGHT,
        wrong=True,
        top="SEEN = {}",
        answer="logits = SEEN.setdefault(float(img.sum()), logits)",
    ),
    Attack("another default dtype", _RIGHT, body="torch.set_default_dtype(torch.float16)"),
    Attack(
        "the same random numbers in each pass",
        Expected(checks=(("property[no-side-effects]", "sets the global random seed"),), least=95, most=99.9),
        forward="torch.manual_seed(0)",
    ),
    Attack("gradients switched off for all", _RIGHT, body="torch.set_grad_enabled(False)"),
    Attack("a hundred threads of torch", _RIGHT, body="torch.set_num_threads(100)"),
    Attack(
        "deterministic algorithms only",
        _RIGHT,
        body="torch.use_deterministic_algorithms(True)",
    ),
    Attack(
        "a softmax of the student's own in torch",
        _CAUGHT,
        wrong=True,
        body="torch.softmax = torch.nn.functional.softmax = lambda x, dim: x",
    ),
    Attack(
        "a linear layer that forgets its bias",
        Expected(checks=(("property[gradients]", "not used"),), least=95, most=99.9),
        body="nn.Linear.forward = lambda self, x: x @ self.weight.T",
    ),
    Attack(
        "calls of modules that return zeros",
        Expected(failed=frozenset({"S02"}), most=30),
        body="nn.Module.__call__ = lambda self, *a, **k: torch.zeros(2, 10)",
    ),
    Attack(
        "no parameters to be drawn at random",
        Expected(failed=frozenset({"S12"}), most=98),
        wrong=True,
        body="""
def named_parameters(self, *a, **k): return iter(())
def state_dict(self, *a, **k): return {}
def parameters(self, *a, **k): return iter(())
""",
    ),
    Attack(
        "parameters that are replaced in each call",
        Expected(checks=(("property[repeatable]", "created anew"),), least=30, most=99.9),
        forward="self.head.weight = nn.Parameter(torch.randn_like(self.head.weight))",
    ),
    Attack(
        "right for the first calls, wrong after them",
        _ANSWER,
        answer="""
torch.calls = getattr(torch, 'calls', 0) + 1
logits = logits if torch.calls < 12 else logits.flip(-1)
probs = logits.softmax(-1)
""",
    ),
    Attack(
        "weights that are buffers of one number",
        _CAUGHT,
        wrong=True,
        init="self.register_buffer('scale', torch.ones(2, 2))",
    ),
    Attack(
        "not a number everywhere",
        Expected(failed=frozenset({"S12", "S25"}), most=92),
        wrong=True,
        answer="""
logits = logits * float('nan')
probs = logits
""",
    ),
    Attack(
        "not a number but in the traced pass",
        _WATCHED,
        top="from torch._C import _len_torch_dispatch_stack as watched",
        answer="logits = logits if watched() else logits * float('nan')",
    ),
    Attack(
        "a number so large that what is left out is rounding",
        Expected(failed=frozenset({"S07"}), most=95),
        base="prenorm",
        edits=(
            (
                "self.pos_embed = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))",
                "table = torch.arange((num_patches + 1.0) * embed_dim).sin().view(1, -1, embed_dim)\n"
                "        table[0, 0, 0] = 1e13\n"
                "        self.register_buffer('pos_embed', table)",
            ),
            ("        nn.init.trunc_normal_(self.pos_embed, std=0.02)\n", ""),
            (
                "x = x + self.mlp(self.norm2(x))",
                "out = self.mlp(self.norm2(x)); x = x + out * (torch.arange(x.shape[1]) < 3).view(1, -1, 1)",
            ),
        ),
    ),
)
