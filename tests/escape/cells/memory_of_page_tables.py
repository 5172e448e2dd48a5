# claim: Page tables count, of which a map that is only read can have any number.
# policy: limits: {memory: 128MiB}
# timeout: 60s
# status: out_of_memory|killed
# session: gone
# hit: memory
# twin: inside
# twin_stdout: done
import mmap
import sys

size = (1 if sys.argv[1] == "twin" else 256) << 30
block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)  # MAP_NORESERVE
try:
    block.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass  # a kernel without huge pages
for i in range(0, size, 2 << 20):
    block[i]
if sys.argv[1] == "hostile":
    import time

    time.sleep(20)
print("done")
