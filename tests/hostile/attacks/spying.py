"""Attacks on what is none of a submission's business. Each way that succeeds is named in an exception."""

from .attack import Attack, Expected

SECRET, PORT, SOCKET = "SECRET_FOLDER", "SERVER_PORT", "SERVER_SOCKET"  # the instructor's
SUCCEEDED = "it has seen too much"
_TOP = """
import glob, os, signal, socket, subprocess, sys
key = sys.modules['vitcheck.reference'].__path__[0] + '/vit.py'
def spy():
    seen = []
"""


def _tried(name: str, line: str) -> str:
    """It may fail in whatever way, but ``line`` must not come to its end."""
    return f"""
    try:
        {line}
        seen.append({name!r})
    except (OSError, LookupError, ImportError, RuntimeError, subprocess.SubprocessError):
        pass
"""


def _spying(name: str, ways: dict[str, str]) -> Attack:
    """The code is right, and must be unharmed."""
    return Attack(
        name,
        Expected(least=100, most=100),
        top=f"{_TOP}{''.join(_tried(*way) for way in ways.items())}    return seen\n",
        body=f"seen = spy()\nif seen: raise SystemExit(f'{SUCCEEDED}: {{seen}}')",
    )


_WAYS = {
    "another's submission read": f"open('{SECRET}/neighbour.py').read()",
    "the folder of submissions listed": f"os.listdir('{SECRET}')[0]",
    "another's submission changed": f"open('{SECRET}/neighbour.py', 'a').write('# mine')",
    "a report written in advance": f"os.mkdir('{SECRET}/grades')",
    "the environment of the grader": "os.environ['VITCHECK_SECRET']",
    "the environment of other processes": (
        "[open(one, 'rb').read() for one in glob.glob('/proc/[0-9]*/environ')][0]"
    ),
    "a list of other processes": (
        "[one for one in os.listdir('/proc') if one.isdigit() and int(one) != os.getpid()][0]"
    ),
    "the memory of the process above it": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "the home of the instructor": "os.listdir('/root')[0]",
    "all homes": "os.listdir('/home')[0]",
    "the accounts of the machine": "open('/etc/passwd').read()",
    "the file system's root written to": "open('/vitcheck-was-here', 'w')",
    "the libraries that all submissions share changed": "open(os.__file__, 'a').write('# mine')",
    "the network of this machine": f"socket.create_connection(('127.0.0.1', {PORT}), 1)",
    "the network beyond it": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))"
    ),
    "a server of its own": "socket.create_server(('127.0.0.1', 0))",
    "a socket of the machine's services": f"socket.socket(socket.AF_UNIX).connect('{SOCKET}')",
    "the rights of root": "os.setuid(0); open('/etc/shadow').read()",
    "a device": "open(glob.glob('/dev/sd*')[0], 'rb')",
    "a signal to its parent": "os.kill(os.getppid(), signal.SIGTERM)",
    "the grader's checks": "import vitcheck.checks.grading.grading",
    "the answer key by a name of bytes": "open(key.encode(), 'rb').read()",
    "the answer key as a tensor": "torch.from_file(key, size=9, dtype=torch.uint8)",
    "the answer key by another program": "subprocess.check_call(['cat', key])",
    "the answer key from its folder": (
        "os.open('vit.py', os.O_RDONLY, dir_fd=os.open(os.path.dirname(key), os.O_RDONLY))"
    ),
    "the answer key by another Python": "subprocess.check_call([sys.executable, key])",
    "a model of ours": "import vitcheck.submissions.child.sample_models",
    "memory that no limit counts": "os.memfd_create('x')",
}
SPYING = _spying("in every way", _WAYS)
SPYING_ONCE = _spying("in one way", dict([*_WAYS.items()][:1]))
