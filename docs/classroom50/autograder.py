"""CLASSROOM/autograders/ASSIGNMENT/autograder.py of Classroom 50, with the assignment.toml beside it."""

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

FILE = "vit_transformer.py"  # what students hand in
VITCHECK = "vitcheck @ git+https://github.com/OWNER/vitcheck@v0.1.0"  # whose repository it is
CPU = "https://download.pytorch.org/whl/cpu"  # builds of PyTorch without CUDA, which are much smaller

here, out = Path(__file__).resolve().parent, Path(os.environ["RUNNER_TEMP"], "vitcheck.json")
programs = Path(os.environ["RUNNER_TEMP"], "vitcheck", "bin")  # where the student's folder is not looked into
subprocess.run([sys.executable, "-I", "-m", "venv", programs.parent], check=True)
install = ["-I", "-m", "pip", "install", "-q", "--extra-index-url", CPU, VITCHECK]
subprocess.run([programs / "python", *install], check=True)

asked = ["--for-students", "--isolation", "auto", "--assignment", here / "assignment.toml"]
graded = subprocess.run([programs / "vitcheck", "check", *asked, "--json", out, "--", FILE])
if graded.returncode not in (0, 1):  # it says nothing of the work
    sys.exit(graded.returncode)
export = [programs / "vitcheck", "export", out, "--to", "classroom50"]
points = json.loads(subprocess.run(export, check=True, capture_output=True).stdout)
about = {
    "schema": "classroom50/result/v1",
    "classroom": os.environ["CLASSROOM"],
    "assignment": os.environ["ASSIGNMENT"],
    "submission": os.environ["SUBMISSION_TAG"],
    "commit": os.environ["COMMIT_URL"],
    "release": os.environ["RELEASE_URL"],
    "review": os.environ.get("REVIEW_URL") or os.environ["COMMIT_URL"],
    "datetime": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
}
Path("result.json").write_text(json.dumps(about | points, indent=2))
