# What a chart says, as metadata beside its image: titles, axis labels, and the points of small series, so that a model can read a
# chart without looking at it. Bounded everywhere; reads matplotlib's own objects only, draws nothing. Worker.

TEXT_CHARACTERS_MAX = 200
AXES_MAX = 16
SERIES_MAX = 20  # of one pair of axes
POINTS_MAX = 100  # of one series; longer ones give only their number of points
POINTS_TOTAL_MAX = 1000  # of one figure


def _text(value):
    value = value if isinstance(value, str) else str(value)
    return value if len(value) <= TEXT_CHARACTERS_MAX else value[: TEXT_CHARACTERS_MAX - 1] + "…"


def _points(data, budget):
    """Values as a list, or nothing when there are too many."""
    if len(data) > min(POINTS_MAX, budget[0]):
        return None
    budget[0] -= len(data)
    result = data.tolist() if hasattr(data, "tolist") else list(data)
    return [round(v, 10) if isinstance(v, float) else v if isinstance(v, (int, str)) or v is None else _text(v) for v in result]


def _series(kind, label, xs, ys, budget):
    series = {"kind": kind, "points": len(xs)}
    if label and not label.startswith("_"):
        series["label"] = _text(label)
    x, y = _points(xs, budget), _points(ys, budget)
    if x is not None and y is not None:
        series["x"], series["y"] = x, y
    return series


def _describe_axes(axes, budget):
    result = {}
    for key, value in (("title", axes.get_title()), ("x_label", axes.get_xlabel()), ("y_label", axes.get_ylabel())):
        if value:
            result[key] = _text(value)
    series = []
    for line in axes.lines[:SERIES_MAX]:
        series.append(_series("line", str(line.get_label()), line.get_xdata(orig=True), line.get_ydata(orig=True), budget))
    for bars in axes.containers[: SERIES_MAX - len(series)]:
        patches = [p for p in getattr(bars, "patches", ()) if hasattr(p, "get_height")]
        if patches and len(patches) <= POINTS_MAX:
            flat = getattr(bars, "orientation", "vertical") == "horizontal"
            xs = [p.get_y() + p.get_height() / 2 if flat else p.get_x() + p.get_width() / 2 for p in patches]
            series.append(_series("bar", str(bars.get_label()), xs, [p.get_width() if flat else p.get_height() for p in patches], budget))
        elif patches:
            series.append({"kind": "bar", "points": len(patches)})
    for collection in axes.collections[: SERIES_MAX - len(series)]:
        if type(collection).__name__ == "PathCollection":
            offsets = collection.get_offsets()
            series.append(_series("scatter", str(collection.get_label()), offsets[:, 0], offsets[:, 1], budget))
        else:
            series.append({"kind": _text(type(collection).__name__)})
    if series:
        result["series"] = series
    if axes.images:
        result["images"] = [list(image.get_size()) for image in axes.images[:SERIES_MAX]]
    if any(s["kind"] == "bar" for s in series):
        labels = [label.get_text() for label in axes.get_xticklabels()[:POINTS_MAX]]
        if any(labels):
            result["x_ticks"] = [_text(label) for label in labels]
    return result


def describe(figure):
    """{title, axes: [...]}; empty when there is nothing to say or when a user's artist raises."""
    try:
        budget = [POINTS_TOTAL_MAX]
        result = {}
        title = figure.get_suptitle() if hasattr(figure, "get_suptitle") else ""
        if title:
            result["title"] = _text(title)
        described = [entry for entry in (_describe_axes(axes, budget) for axes in figure.axes[:AXES_MAX]) if entry]
        if described:
            result["axes"] = described
        return result
    except Exception:
        return {}
