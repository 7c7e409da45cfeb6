"""No holes in the heap of a process that will be forked.

What a child allocates would else land in them, each on another page, and each page that is touched
has to be copied. From the end of the heap its pages are new, and many at a time.
"""

from __future__ import annotations

import ctypes

FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
SIZES = (*(1 << bits for bits in range(16, 10, -1)), *range(1024, 0, -16))  # 16: malloc's grain


class Use(ctypes.Structure):
    """The C library's `struct mallinfo2`: `fordblks` bytes are free, `keepcost` of them last."""

    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]


def use() -> Use | None:
    """How this process uses its heap; None where the C library is not glibc 2.33 or newer."""
    libc = _glibc()
    return None if libc is None else libc.mallinfo2()


def fill() -> None:
    """Take every hole, the large ones first, and never give it back."""
    libc = _glibc()
    if libc is None:
        return
    libc.malloc_trim(0)  # joins what lies side by side
    for size in SIZES:
        end = libc.sbrk(0) - libc.mallinfo2().keepcost
        piece = libc.malloc(size)
        while 0 < piece < end:
            piece = libc.malloc(size)
        libc.free(piece)  # the first that is of the heap's end, or apart from it


def _glibc() -> ctypes.CDLL | None:
    """The C library, its functions declared."""
    try:
        libc = ctypes.CDLL(None)
        libc.mallinfo2.restype = Use
    except (AttributeError, OSError, TypeError):  # TypeError: Windows has no library without a name
        return None
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    libc.sbrk.argtypes, libc.sbrk.restype = [ctypes.c_ssize_t], ctypes.c_void_p
    return libc
