"""What is said of unfinished programs: those with a known mistake in what is written, and right ones."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from common import show
from prefixes import FATES, WANTED, Whole, fate, prefixes, right_programs, wrong_programs

from vitcheck.checks.classes.tasks import Setting
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Isolation

_Row = dict[str, str]  # a prefix, or a program that has none, by what the tables are made of
_NO_CUT = "cannot be cut"
_ACCEPTED = "not told of the finished program"


def arguments() -> Namespace:
    """The programs that are graded, and the file in which it is kept how."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="of so many programs one is cut")
    parser.add_argument("--kept", type=Path, default=Path("unfinished.jsonl"), help="goes on from there")
    return parser.parse_args()


def graded(whole: Whole, zygote: Zygote) -> Iterator[_Row]:
    """Each prefix of a program."""
    own = {"program": whole.name, "id": whole.id, "kind": whole.architecture}
    shown, cuts = prefixes(whole, zygote)
    told = "" if not whole.id or shown & {whole.id, *whole.accepted} else "no"
    left_out = "" if cuts else _NO_CUT
    if cuts and told and not whole.is_told(whole.graded(whole.handed, zygote)):
        left_out = _ACCEPTED
    if left_out:
        yield {**own, "prefix": whole.name, "fate": left_out, "finished": told}
    for one in () if left_out else cuts:
        result = one.graded(zygote)
        names = " ".join([*(found.id for found in result.mistakes), *(found.id for found in result.variants)])
        yield {**own, "prefix": one.name, "fate": fate(one, result), "said": names, "finished": told}


def kept(options: Namespace) -> list[_Row]:
    """All of them, those that were graded before from the file."""
    lines = options.kept.read_text("utf-8").splitlines() if options.kept.exists() else []
    rows: list[_Row] = [json.loads(line) for line in lines]
    done = {row["program"] for row in rows}
    with Setting(Isolation.NONE).zygote() as zygote, options.kept.open("a", encoding="utf-8") as file:
        for whole in [*right_programs(), *wrong_programs()][:: options.every]:
            for row in graded(whole, zygote) if whole.name not in done else ():
                rows.append(row)
                print(json.dumps(row), file=file, flush=True)
    return rows


def table(title: str, rows: Sequence[_Row]) -> None:
    """How many ended in which way, by the kind of block."""
    kinds = sorted({row["kind"] for row in rows})
    counts = {kind: Counter(row["fate"] for row in rows if row["kind"] == kind) for kind in kinds}
    counts["all"] = Counter(row["fate"] for row in rows)
    columns = [one for one in FATES if counts["all"][one]]
    total = [(name, sum(one.values()), *(one[column] for column in columns)) for name, one in counts.items()]
    show((title, "prefixes", *columns), total)
    wanted = sum(counts["all"][one] for one in WANTED)
    print(f"\n{100 * wanted / max(1, counts['all'].total()):.1f} % as they should be")


def main() -> None:
    """Print what is not as it should be, and the tables."""
    rows = [row for row in kept(arguments()) if row["fate"] not in (_NO_CUT, _ACCEPTED)]
    for row in (one for one in rows if one["fate"] not in WANTED):
        print(f"- {row['fate']}: {row['prefix']}: {row['said']}")
    wrong = [row for row in rows if row["id"]]
    table("right", [row for row in rows if not row["id"]])
    table("a mistake that the values of a pass show", [row for row in wrong if not row["finished"]])
    table("a mistake that they do not show", [row for row in wrong if row["finished"]])


if __name__ == "__main__":
    main()
