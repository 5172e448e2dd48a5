# claim: A 32-bit system call ends the process; the filter knows one architecture.
# status: killed|ok
# session: gone|kept
# stdout: |other processor
# twin: outside
# twin_stdout: (int 0x80 returned [0-9]+|other processor)
import ctypes
import mmap
import platform
import sys

if platform.machine() != "x86_64":
    print("other processor")
    sys.exit()
code = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("53b814000000cd805bc3"))  # push rbx; mov eax, 20 (getpid); int 0x80; pop rbx; ret
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
print("int 0x80 returned", function(), flush=True)
