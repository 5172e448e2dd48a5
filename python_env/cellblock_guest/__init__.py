# The Python side of a Cellblock guest: what a notebook user sees. Runs inside cellblock-guest (the zygote, then each worker
# forked from it); pure Python, imported by the embedding C++ through zygote.py and worker.py only. The worker half shares its
# address space with user code, so nothing here is a security boundary: the kernel layers around the process are.
