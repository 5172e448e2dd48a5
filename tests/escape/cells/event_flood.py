# claim: Events without end are bounded, whatever the guest sends.
# timeout: 120s
# policy: limits: {results: 10, result_size: 64KiB}
# hit: results
# twin: inside
# twin_stdout: done
import sys

from IPython.display import clear_output, display

for i in range(30_000 if sys.argv[1] == "hostile" else 3):
    display(i)
    clear_output()
print("done")
