# claim: The workspace ends at its number of files.
# policy: limits: {workspace_files: 200}
# policy: artifacts: {files: 0}
# status: error
# error: OSError
# hit: workspace_files
# twin: inside
# twin_stdout: done
import sys

for i in range(100 if sys.argv[1] == "twin" else 1_000_000):
    open(f"f{i}", "w").close()
print("done")
