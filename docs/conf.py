"""The documentation as a site: ``sphinx-build docs site``."""

import vitcheck

project = "vitcheck"
author = "The vitcheck developers"
version = release = vitcheck.__version__

extensions = ["myst_parser", "sphinx_click"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["gpt"]  # a package of its own, which architectures.md tells of
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # links to files of the repository beside the pages

html_theme = "furo"
html_title = f"vitcheck {version}"
html_show_sphinx = False
