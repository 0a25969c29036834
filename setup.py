"""Which folders are packages, and what they are called. All else stands in pyproject.toml."""

from setuptools import find_packages, setup

FOLDERS = {"vitcheck": "cli"} | {
    f"vitcheck.{folder}": folder for folder in ("checks", "reference", "reports", "submissions")
}

setup(
    package_dir=FOLDERS,
    packages=[
        *FOLDERS,
        *(f"{package}.{below}" for package, folder in FOLDERS.items() for below in find_packages(folder)),
    ],
)
