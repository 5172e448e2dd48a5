# claim: Modules, builtins and hooks that a session replaces are replaced for itself alone.
# stdout: poisoned
# after_stdout: clean
# twin: again
# twin_stdout: builtins json pickle open path hooks environment codecs numpy
import builtins
import codecs
import json
import os
import pickle
import sys

import numpy

if sys.argv[1] == "hostile":
    builtins.poison = True
    json.loads = json.dumps = lambda *rest, **more: "poison"
    pickle.loads = lambda *rest, **more: "poison"
    builtins.open = lambda *rest, **more: "poison"
    sys.path.insert(0, "/tmp/poison")
    sys.meta_path.insert(0, type("Poison", (), {"find_spec": staticmethod(lambda *rest: None)}))
    os.environ["POISON"] = "1"
    codecs.register(lambda name: (_ for _ in ()).throw(RuntimeError) if name == "poison" else None)
    numpy.array = None
    sys.modules["statistics"] = sys.modules["json"]
    print("poisoned")
else:
    found = ["builtins"] if hasattr(builtins, "poison") else []
    found += ["json"] if json.loads("[1]") != [1] else []
    found += ["pickle"] if pickle.loads(pickle.dumps(1)) != 1 else []
    found += ["open"] if open("/dev/null") == "poison" else []
    found += ["path"] if "/tmp/poison" in sys.path else []
    found += ["hooks"] if any(getattr(finder, "__name__", "") == "Poison" for finder in sys.meta_path) else []
    found += ["environment"] if "POISON" in os.environ else []
    try:
        codecs.lookup("poison")
    except RuntimeError:
        found.append("codecs")
    except LookupError:
        pass
    found += ["numpy"] if numpy.array is None else []
    print(*found or ["clean"])
