"""What a server is made of while it is used: the most threads and resident memory that were seen."""

import threading
from collections.abc import Callable
from types import TracebackType

SAMPLE_S = 0.02


class Watch:
    """Looks at a server all the time until it is left; what lives shorter than a sample is not seen.

    The look gives numbers by name, none where there is no server; `most` has the largest of each.
    """

    def __init__(self, look: Callable[[], dict]):
        self.look = look
        self.most: dict = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.watch, name="watch", daemon=True)

    def watch(self) -> None:
        while self.see() and not self.over.wait(SAMPLE_S):
            pass

    def see(self) -> bool:
        """False when the server has ended, which whoever uses it will tell."""
        try:
            seen = self.look()
        except (OSError, KeyError):
            return False
        self.most = {name: max(value, self.most.get(name, value)) for name, value in seen.items()}
        return True

    def __enter__(self) -> "Watch":
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self.thread.join()
