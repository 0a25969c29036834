"""Attacks on what is none of a submission's business. Each says so by an exception if it succeeds."""

from .attack import Attack, Expected

SECRET, PORT, SOCKET = "SECRET_FOLDER", "SERVER_PORT", "SERVER_SOCKET"  # the instructor's
_UNHARMED = Expected(least=100, most=100)  # the code is right, and found nothing


def _tries(name: str, line: str) -> Attack:
    """It may fail in whatever way, but ``line`` must not come to its end."""
    top = f"""
import glob, os, signal, socket, subprocess, sys
key = sys.modules['vitcheck.reference'].__path__[0] + '/vit.py'
def spy():
    try:
        {line}
    except (OSError, LookupError, ImportError, RuntimeError, subprocess.SubprocessError):
        return False
    return True
"""
    return Attack(name, _UNHARMED, top=top, body="if spy(): raise SystemExit('it has seen too much')")


SPYING = (
    _tries("another's submission read", f"open('{SECRET}/neighbour.py').read()"),
    _tries("the folder of submissions listed", f"os.listdir('{SECRET}')[0]"),
    _tries("another's submission changed", f"open('{SECRET}/neighbour.py', 'a').write('# mine')"),
    _tries("a report written in advance", f"os.mkdir('{SECRET}/grades')"),
    _tries("the environment of the grader", "os.environ['VITCHECK_SECRET']"),
    _tries(
        "the environment of other processes",
        "[open(one, 'rb').read() for one in glob.glob('/proc/[0-9]*/environ')][0]",
    ),
    _tries(
        "a list of other processes",
        "[one for one in os.listdir('/proc') if one.isdigit() and int(one) != os.getpid()][0]",
    ),
    _tries("the memory of the process above it", "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)"),
    _tries("the home of the instructor", "os.listdir('/root')[0]"),
    _tries("all homes", "os.listdir('/home')[0]"),
    _tries("the accounts of the machine", "open('/etc/passwd').read()"),
    _tries("the file system's root written to", "open('/vitcheck-was-here', 'w')"),
    _tries("the libraries that all submissions share changed", "open(os.__file__, 'a').write('# mine')"),
    _tries("the network of this machine", f"socket.create_connection(('127.0.0.1', {PORT}), 1)"),
    _tries(
        "the network beyond it",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 53))",
    ),
    _tries("a server of its own", "socket.create_server(('127.0.0.1', 0))"),
    _tries("a socket of the machine's services", f"socket.socket(socket.AF_UNIX).connect('{SOCKET}')"),
    _tries("the rights of root", "os.setuid(0); open('/etc/shadow').read()"),
    _tries("a device", "open(glob.glob('/dev/sd*')[0], 'rb')"),
    _tries("a signal to its parent", "os.kill(os.getppid(), signal.SIGTERM)"),
    _tries("the grader's checks", "import vitcheck.checks.grading.grading"),
    _tries("the answer key by a name of bytes", "open(key.encode(), 'rb').read()"),
    _tries("the answer key as a tensor", "torch.from_file(key, size=9, dtype=torch.uint8)"),
    _tries("the answer key by another program", "subprocess.check_call(['cat', key])"),
    _tries(
        "the answer key from its folder",
        "os.open('vit.py', os.O_RDONLY, dir_fd=os.open(os.path.dirname(key), os.O_RDONLY))",
    ),
    _tries("the answer key by another Python", "subprocess.check_call([sys.executable, key])"),
    _tries("a model of ours", "import vitcheck.submissions.child.sample_models"),
    _tries("memory that no limit counts", "os.memfd_create('x')"),
)
