# claim: Start-up files that a session leaves in its folders are read by no other: modules, .pth, sitecustomize, dotfiles.
# stdout: left
# policy: artifacts: {files: 0}
# after_stdout: clean
# twin: again
# twin_stdout: module bash
import os
import subprocess
import sys

if sys.argv[1] == "hostile":
    poison = "import os\nos.environ['POISONED_BY'] = __name__\n"
    user_site = "/workspace/.local/lib/python3.11/site-packages"
    for folder in ("/workspace", "/tmp", "/dev/shm", user_site):
        os.makedirs(folder, exist_ok=True)
        for name in ("sitecustomize", "usercustomize", "json", "random", "numpy", "encodings", "colorsys", "pythonstartup"):
            open(f"{folder}/{name}.py", "w").write(poison)
        open(f"{folder}/poison.pth", "w").write("import os; os.environ['POISONED_BY'] = 'pth'\n")
    for name in (".bashrc", ".profile", ".bash_profile", ".pythonrc", ".pdbrc", ".inputrc"):
        open(f"/workspace/{name}", "w").write("export POISONED_BY=dotfile\n")
    for folder, name in ((".ipython/profile_default/startup", "poison.py"), (".config/matplotlib", "matplotlibrc"), (".config/python", "poison.py")):
        os.makedirs(f"/workspace/{folder}", exist_ok=True)
        open(f"/workspace/{folder}/{name}", "w").write(poison)
    print("left")
else:
    found = ["worker"] if "POISONED_BY" in os.environ else []
    import colorsys  # imported by nothing that runs before

    found += ["module"] if not colorsys.__file__.startswith("/usr/lib/") else []
    shell = subprocess.run(["bash", "-lc", "echo $POISONED_BY"], capture_output=True, text=True).stdout
    found += ["bash"] if shell.strip() else []
    print(*found or ["clean"])
