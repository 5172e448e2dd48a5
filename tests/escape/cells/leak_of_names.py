# claim: No name of a session is known to another: abstract sockets, shared memory, semaphores, processes.
# policy: keep_processes: true
# stdout: made
# after_stdout: none
# twin: again
# twin_stdout: socket memory semaphore process
import os
import sys

if sys.argv[1] == "hostile":
    import multiprocessing
    import multiprocessing.shared_memory
    import socket
    import subprocess

    listener = socket.socket(socket.AF_UNIX)
    listener.bind("\0cellblock-leaks")
    listener.listen()
    memory = multiprocessing.shared_memory.SharedMemory("cellblock-leaks", create=True, size=10)
    open("/dev/shm/sem.cellblock-leaks", "w").write("x")
    process = subprocess.Popen(["sleep", "314159"])
    print("made")
else:
    import multiprocessing.shared_memory
    import socket

    found = []
    try:
        socket.socket(socket.AF_UNIX).connect("\0cellblock-leaks")
        found.append("socket")
    except OSError:
        pass
    try:
        multiprocessing.shared_memory.SharedMemory("cellblock-leaks")
        found.append("memory")
    except OSError:
        pass
    if os.path.exists("/dev/shm/sem.cellblock-leaks"):
        found.append("semaphore")
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and b"314159" in open(f"/proc/{pid}/cmdline", "rb").read():
                found.append("process")
        except OSError:
            pass
    print(*found or ["none"])
