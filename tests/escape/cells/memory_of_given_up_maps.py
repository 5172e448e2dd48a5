# claim: Shared memory counts that its only process has unmapped or given up, all but one page: it is there as long as that is.
# policy: limits: {memory: 128MiB, workspace: 1GiB, shm: 4GiB, tmp: 1GiB}
# timeout: 60s
# status: out_of_memory
# session: gone
# hit: memory
# twin: inside
# twin_stdout: done
import ctypes
import mmap
import sys

SIZE = 20 << 20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = libc.munmap.argtypes + [ctypes.c_int]
held = []


def of_a_file():
    file = open(f"/dev/shm/{len(held)}", "wb+")
    held.append(file)
    file.truncate(SIZE)
    return libc.mmap(None, SIZE, 3, mmap.MAP_SHARED, file.fileno(), 0)


def of_the_device():
    with open("/dev/zero", "rb+") as file:
        return libc.mmap(None, SIZE, 3, mmap.MAP_SHARED, file.fileno(), 0)


def without_a_file():
    return libc.mmap(None, SIZE, 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, 0)


def in_a_way_that_is_allowed():
    for way in (without_a_file, of_the_device, of_a_file):
        try:
            address = way()
        except PermissionError:
            continue
        if address != ctypes.c_void_p(-1).value:
            return address
    raise MemoryError("no way left")


for i in range(1 if sys.argv[1] == "twin" else 100):
    block = in_a_way_that_is_allowed()
    ctypes.memset(block, 1, SIZE)
    if i % 2:
        assert libc.madvise(block, SIZE, 4) == 0  # MADV_DONTNEED
    else:
        assert libc.munmap(block + 4096, SIZE - 4096) == 0
if sys.argv[1] == "hostile":
    import time

    time.sleep(20)
print("done")
