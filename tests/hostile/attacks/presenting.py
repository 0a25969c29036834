"""Attacks on whoever reads the report: people, browsers, terminals, spreadsheets, parsers."""

from .attack import PARTS, Attack, Expected

SCRIPT = "<script>window.hacked = 1</script>"
IMAGE = "<img src=x onerror='window.hacked = 1'>"
ATTRIBUTE = "\"'><svg onload=window.hacked=1>"

_NAME = SCRIPT.replace(".", "")  # torch allows no dot in one
_STOPPED = Expected(failed=frozenset({"S02"}), most=PARTS)
_CAUGHT = Expected(failed=frozenset({"S12"}), most=98)


def _raises(name: str, text: str) -> Attack:
    return Attack(
        name, _STOPPED, forward=f"if torch.is_grad_enabled(): raise ValueError({text!r})"
    )  # not while it is tried


PRESENTING = (
    _raises("a script in an exception", SCRIPT),
    _raises("an image that runs code in an exception", IMAGE),
    _raises("the end of an attribute in an exception", ATTRIBUTE),
    _raises("the end of a style in an exception", "</style></title></textarea><body onload=window.hacked=1>"),
    _raises("a template in an exception", "{{ 7 * 7 }} {% raise 'x' %} ${7*7}"),
    _raises("a formula in an exception", "=HYPERLINK('http://example.org')"),
    _raises("what drives a terminal in an exception", "\x1b]0;hacked\x07\x1b[2J\x1b[31m\x9b31m\r\b"),
    _raises("text that runs backwards in an exception", "\u202eevil\u2066\u200f"),
    _raises("characters of no width in an exception", "\u200bze\u200dro\ufeff\u2060\U000e0041"),
    _raises("what XML cannot hold in an exception", "\x00\x01\ufffe\uffff\x0b"),
    _raises("halves of characters in an exception", "\ud800 \udc80"),
    _raises(
        "a markup of the terminal's library in an exception",
        "[bold red]A[/bold red][link=http://example.org]x",
    ),
    Attack(
        "ten megabytes in an exception",
        _STOPPED,
        forward="if torch.is_grad_enabled(): raise ValueError('x' * 10**7)",
    ),
    Attack(
        "ten megabytes in the name of an exception",
        _STOPPED,
        forward="if torch.is_grad_enabled(): raise type('X' * 10**7, (Exception,), {})",
    ),
    Attack(
        "a script as the name of an exception",
        _STOPPED,
        forward=f"if torch.is_grad_enabled(): raise type({SCRIPT!r}, (Exception,), {{}})",
    ),
    Attack(
        "a script as a key of what is returned",
        _CAUGHT,
        wrong=True,
        answer=f"return {{'logits': logits, 'S12' + {SCRIPT!r}: x_pos, 'S13' + {IMAGE!r}: logits + 1}}",
    ),
    Attack(
        "a script as the name of a parameter",
        _CAUGHT,
        wrong=True,
        init=f"self.register_parameter({_NAME!r}, nn.Parameter(torch.zeros(3)))",
    ),
    Attack(
        "a script as the name of a module and its class",
        _CAUGHT,
        wrong=True,
        init=f"self.add_module({_NAME!r}, type({SCRIPT!r}, (nn.Identity,), {{}})())",
    ),
    Attack("a script in a docstring", _CAUGHT, wrong=True, body=f'"""{SCRIPT}"""'),
    Attack("a script that is printed", _CAUGHT, wrong=True, forward=f"print({SCRIPT!r}, '\\x1b[2J')"),
    Attack(
        "a script in the line that is to blame",
        _CAUGHT,
        edits=(
            (
                "/ math.sqrt(self.head_dim)",
                f"/ math.sqrt(self.dim)  # {SCRIPT} {IMAGE} \u202e\x1b[2J",
            ),
        ),
    ),
    Attack("a script in a breakpoint mark", _CAUGHT, wrong=True, forward=f"# BREAKPOINT S09 {SCRIPT}\npass"),
)
