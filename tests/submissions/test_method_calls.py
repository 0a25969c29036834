"""What only a task beside the forward pass reads: never what that reads, or what nothing reads."""

from __future__ import annotations

from vitcheck.submissions.reading.method_calls import read_apart

CODE = b"""
class Codec:
    def decode(self, x):
        return x @ self.weight + self.dec_bias

class ViT:
    def __init__(self):
        self.forgotten = make()
        self.mask_token = make()
        self.reset()

    def reset(self):
        fill(self.never_read)

    def encode(self, x):
        return self.weight @ x + self.position

    def forward(self, x):
        return self.encode(x)

    def pretrain_loss(self, x):
        x = self.encode(x + self.mask_token)
        return self.codec.decode(x)
"""


def test_what_pretraining_alone_reads_is_of_another_task() -> None:
    apart = read_apart({"vit.py": CODE})
    assert {"mask_token", "dec_bias"} <= apart
    assert not {"weight", "position", "forgotten", "never_read"} & apart


def test_code_that_cannot_be_read_has_no_other_tasks() -> None:
    assert not read_apart({"vit.py": b"class ViT:\n    def forward(self:\n", "notes.txt": b"self.mask_token"})
