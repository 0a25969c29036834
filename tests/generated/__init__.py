"""A machine that writes programs as students do, right ones and wrong ones.

It imports nothing of ``vitcheck.checks``. To have some written: ``python tests/generated/write.py --help``.
"""
