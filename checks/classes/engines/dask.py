"""Workers of any Dask cluster. A task carries all that it needs, so that no file system is shared."""

from __future__ import annotations

import asyncio
import pickle
import platform
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from importlib.metadata import version

from ...record.result import Result
from ..tasks import Task
from . import Begun, Done, EngineError
from .worker_process import Warm

try:
    import dask
    import distributed
    from distributed import Client, Future, Security, as_completed, get_worker
    from distributed.comm.core import connect
except ImportError:
    raise EngineError('--engine dask needs further packages: pip install "vitcheck[dask]"') from None

_CONNECT_SECONDS = 10.0
_WORKERS_SECONDS = 60.0  # until the first one is there; a batch system may take longer to start them
_WARN_BYTES = "1 GiB"  # Dask warns of large arguments; what is handed in is bounded in packing
_LOST = "the connection to the Dask scheduler was lost; what was finished is kept"
_Answer = tuple[str, bytes | None]  # a record, and the arrays of its figures
_AHEAD = 2  # tasks for each worker: the next one is there when one is done


class Dask:
    """All workers of the cluster whose scheduler is at the address ``scheduler``.

    A task whose worker dies is done by another, until several have died of it. To enter it raises EngineError
    where the cluster cannot be reached, has no worker, or has workers that differ from this machine.
    """

    def __init__(self, scheduler: str) -> None:
        self._scheduler = scheduler
        self._finishing = False

    def __enter__(self) -> Dask:
        self._client = _connected(self._scheduler)
        try:
            _wait_for_worker(self._client)
            wanted = _wanted()
            for worker, found in self._client.run(_traits, on_error="return").items():
                _compare(worker, found, wanted)
        except BaseException:
            self._client.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()  # the scheduler drops what is not done; a worker ends what it is at

    def finish(self) -> None:
        self._finishing = True

    def run(self, tasks: Iterable[Task]) -> Iterator[Begun | Done]:
        waiting = iter(tasks)
        handed: dict[Future[_Answer], Task] = {}
        completed = as_completed(loop=self._client.loop)
        while True:
            while not self._finishing and len(handed) < self._room() and (task := next(waiting, None)):
                future = self._submit(task)
                handed[future] = task
                completed.add(future)
                yield Begun(task)
            if not handed:
                return
            future = next(completed)
            yield Done(handed.pop(future), _result(future))

    def _room(self) -> int:
        """Return how many tasks are handed out at a time; one may wait for a worker to come back."""
        try:
            return max(1, _AHEAD * len(self._client.nthreads()))
        except OSError:
            raise EngineError(_LOST) from None

    def _submit(self, task: Task) -> Future[_Answer]:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": _WARN_BYTES}):
            return self._client.submit(_grade, _wanted(), pickle.dumps(task), key=f"vitcheck-{task.key}")


def _connected(scheduler: str) -> Client:
    try:
        asyncio.run(_try(scheduler))  # a client that finds nobody cannot be got rid of quietly
        return Client(scheduler, timeout=_CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # of many types, by what is wrong with the address, the network or TLS
        raise EngineError(f"no Dask scheduler can be reached at {scheduler}: {error}") from None


async def _try(scheduler: str) -> None:
    arguments = Security().get_connection_args("client")
    comm = await connect(scheduler, timeout=_CONNECT_SECONDS, **arguments)
    await comm.close()


def _wait_for_worker(client: Client) -> None:
    try:
        client.wait_for_workers(1, timeout=_WORKERS_SECONDS)
    except distributed.TimeoutError:  # another than Python's own before 3.11
        raise EngineError(
            f"the Dask scheduler has had no worker for {_WORKERS_SECONDS:.0f} seconds; start workers first"
        ) from None


def _result(future: Future[_Answer]) -> Result | None:
    try:
        return Result.from_json(*future.result())
    except CancelledError:
        raise EngineError(_LOST) from None
    except EngineError:
        raise
    except Exception:
        traceback.print_exc()
        return None


_warm = Warm()  # of this process, if it is a worker of a cluster: it stays ready for the next run


def _grade(wanted: dict[str, str], task: bytes) -> _Answer:
    """Do a task on a worker, which may have come after the others were compared."""
    here = get_worker()
    _compare(here.address, _traits(here), wanted)
    result = _warm.grade(pickle.loads(task))  # in a process of its own, which can be ended
    return result.to_json(), result.arrays


def _wanted() -> dict[str, str]:
    """Return what workers must have: what is here, and one thread, since pytest cannot run in two at once."""
    return _versions() | {"threads": "1"}


def _traits(dask_worker: distributed.Worker) -> dict[str, str]:  # a name that Client.run knows
    return _versions() | {"threads": str(dask_worker.state.nthreads)}


def _versions() -> dict[str, str]:
    """Return the versions that results depend on, without what tells builds of one apart, such as +cpu."""
    packages = {name: version(name).partition("+")[0] for name in ("vitcheck", "torch")}
    return packages | {"Python": platform.python_version().rpartition(".")[0]}


def _compare(worker: str, found: dict[str, str] | Exception, wanted: dict[str, str]) -> None:
    if isinstance(found, Exception):
        raise EngineError(f"the worker {worker} cannot grade: {found}; install vitcheck there, too")
    if found != wanted:
        wrong = [
            f"{name} {found[name]} instead of {wanted[name]}"
            for name in wanted
            if found[name] != wanted[name]
        ]
        raise EngineError(
            f"the worker {worker} has {', '.join(wrong)}; install there what is installed here, and start"
            " workers with one thread each (--nthreads 1)"
        )
