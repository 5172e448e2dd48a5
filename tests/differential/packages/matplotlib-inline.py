import matplotlib
from matplotlib_inline.config import InlineBackend
from matplotlib_inline.backend_inline import new_figure_manager

backend = InlineBackend.instance()
print(sorted(backend.figure_formats), backend.close_figures, dict(backend.rc))
manager = new_figure_manager(1, figsize=(2, 1))
manager.canvas.figure.add_subplot().plot([1, 3, 2])
manager.canvas.draw()
width, height = manager.canvas.get_width_height()
print(width, height, matplotlib.__version__.split(".")[0])
type(manager.canvas).__name__
