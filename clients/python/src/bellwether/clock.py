"""The clock by which leadership is valid. It goes on while the machine is suspended, and nobody sets it."""

from __future__ import annotations

import sys
import time

#: In the place of a deadline: there is none.
NEVER = sys.maxsize

_BOOTTIME = getattr(time, "CLOCK_BOOTTIME", None)

#: Whether an agent on this machine means the same instant by the same number.
SHARED = _BOOTTIME is not None


def now() -> int:
    """Microseconds since the machine was started."""
    nanoseconds = time.monotonic_ns() if _BOOTTIME is None else time.clock_gettime_ns(_BOOTTIME)
    return nanoseconds // 1000
