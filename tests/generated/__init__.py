"""A machine that writes programs as students do, right ones and wrong ones. It imports nothing of ``vitcheck.checks``."""
