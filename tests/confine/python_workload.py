# What plain CPython asks of the kernel: threads, processes of each kind, semaphores, sockets, event loops, files. Run free and locked
# by confine_programs_test.cc, which compares the output; so it prints results only, nothing that differs from run to run.
import asyncio
import concurrent.futures
import contextlib
import ctypes
import fcntl
import json
import mmap
import multiprocessing
import os
import resource
import select
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import uuid
import zipfile


def square(x):
    return x * x


def files():
    os.makedirs("tree/a/b")
    with open("tree/a/b/f", "w") as f:
        f.write("text\n" * 1000)
    os.symlink("f", "tree/a/b/link")
    shutil.copytree("tree", "copy", symlinks=True)
    shutil.move("copy", "moved")
    print(sorted(p for _, _, names in os.walk("moved") for p in names), os.stat("moved/a/b/f").st_size)
    with tarfile.open("t.tar.gz", "w:gz") as t:
        t.add("moved")
    with tarfile.open("t.tar.gz") as t:
        t.extractall("untar")
    with zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED) as z:
        z.write("moved/a/b/f")
    print(zipfile.ZipFile("z.zip").namelist(), os.path.islink("untar/moved/a/b/link"))
    os.mkfifo("fifo")
    with open("m", "wb+") as f:
        f.truncate(8192)
        with mmap.mmap(f.fileno(), 8192) as m:
            m[:4] = b"mmap"
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        print(f.read(4), os.posix_fallocate(f.fileno(), 0, 16384), os.fstat(f.fileno()).st_size)
    with tempfile.TemporaryDirectory(dir=".") as d, tempfile.NamedTemporaryFile(dir=d) as f:
        print(os.path.exists(f.name))
    print(oct(os.stat("m").st_mode & 0o777), os.access("m", os.W_OK), len(os.listdir("/proc/self/fd")) > 2)


def processes():
    print(subprocess.run(["sh", "-c", "echo out; echo err >&2; exit 3"], capture_output=True, text=True))
    print(subprocess.check_output("seq 5 | paste -sd+", shell=True, close_fds=True, start_new_session=True))
    try:
        subprocess.run(["sleep", "9"], timeout=0.1)
    except subprocess.TimeoutExpired as e:
        print("timeout", e.cmd)
    pid = os.fork()
    if pid == 0:
        os._exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    pid = os.posix_spawn("/bin/true", ["true"], os.environ)
    print(os.waitpid(pid, 0)[1])
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        with context.Pool(2) as pool:
            print(method, pool.map(square, range(5)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, range(4))))
    with multiprocessing.Manager() as manager:
        shared = manager.list([1, 2])
        shared.append(3)
        print(list(shared))
    queue, event = multiprocessing.Queue(), multiprocessing.Event()
    process = multiprocessing.Process(target=lambda: (event.wait(), queue.put("from child")))
    process.start()
    event.set()
    print(queue.get(timeout=20))
    process.join()


def threads():
    lock, total = threading.Lock(), []

    def work(n):
        with lock:
            total.append(n)

    started = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in started:
        t.start()
    for t in started:
        t.join()
    print(sorted(total))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(sum(pool.map(square, range(100))))
    semaphore = threading.BoundedSemaphore(1)
    print(semaphore.acquire(timeout=1), semaphore.acquire(timeout=0.01))


async def loop():
    process = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    print(await process.communicate(b"through cat"), process.returncode)

    async def serve(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()

    async with await asyncio.start_unix_server(serve, "sock"):
        reader, writer = await asyncio.open_unix_connection("sock")
        writer.write(b"hello\n")
        print(await reader.readline())
        writer.close()
    print(await asyncio.gather(*(asyncio.sleep(0.01, i) for i in range(3))))
    print(await asyncio.to_thread(square, 9))


def signals_and_waiting():
    hits = []
    signal.signal(signal.SIGALRM, lambda *a: hits.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    time.sleep(0.1)
    signal.signal(signal.SIGUSR1, lambda *a: hits.append(2))
    os.kill(os.getpid(), signal.SIGUSR1)
    print(hits)
    a, b = socket.socketpair()
    with contextlib.closing(a), contextlib.closing(b), contextlib.closing(select.epoll()) as poller:
        poller.register(b, select.EPOLLIN)
        socket.send_fds(a, [b"fd"], [1])
        print(len(poller.poll(1)), socket.recv_fds(b, 10, 1)[0])
    r, w = os.pipe()
    os.write(w, b"x" * 10)
    print(struct.unpack("i", fcntl.ioctl(r, 0x541B, b"\0" * 4)), os.isatty(r), sys.stdin.isatty())


def rest():
    with contextlib.closing(sqlite3.connect("db.sqlite")) as db:
        db.execute("pragma journal_mode=wal")
        db.execute("create table t(x)")
        db.executemany("insert into t values(?)", [(i,) for i in range(1000)])
        db.commit()
        print(db.execute("select sum(x) from t").fetchone())
    print(len(os.urandom(8)), len(str(uuid.uuid4())), os.sched_getaffinity(0) != set(), os.cpu_count() > 0)
    print(resource.getrlimit(resource.RLIMIT_CORE)[0], os.getpriority(os.PRIO_PROCESS, 0), os.umask(0o22))
    print(json.dumps(dict(zip("ab", os.uname()[:1]))), os.getloadavg() != (), shutil.disk_usage(".").total > 0)
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda x, y: 0)
    values = (ctypes.c_int * 3)(3, 1, 2)
    ctypes.CDLL(None).qsort(values, 3, 4, callback)
    print(list(values)[:0], time.get_clock_info("monotonic").adjustable)


if __name__ == "__main__":
    for part in (files, processes, threads, signals_and_waiting, rest):
        print("--", part.__name__, flush=True)
        part()
    print("-- asyncio")
    asyncio.run(loop())
    sys.stdout.flush()
