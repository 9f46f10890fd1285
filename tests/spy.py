"""Failpoints that inject nothing."""

from pathlib import Path

from app.failpoints.injection import Failpoints


class Spy(Failpoints):
    """Records the failpoints that are reached, such as ``read.before``."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "replica-1")
        self.reached: list[str] = []

    def reach(self, phase: str, moment: str, request: str, keys: object = ()) -> None:
        self.reached.append(f"{phase}.{moment}")
