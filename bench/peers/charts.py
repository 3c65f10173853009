"""Logarithmic line and bar charts as SVG text. Pure; colours come from the page's style, by class."""
import html
import math

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 68, 12, 10, 34
BAR_HEIGHT, BAR_GAP, GROUP_GAP, NAME_WIDTH, VALUE_WIDTH = 13, 2, 12, 126, 70
X_TICKS = (1, 8, 64, 512, 4096, 32768, 262144, 2097152)


class Scale:
    """Logarithmic, from data to the picture."""

    def __init__(self, values, start, end, whole_decades=True):
        low, high = math.log10(min(values)), math.log10(max(values))
        if whole_decades:
            low, high = math.floor(low + 1e-9), math.ceil(high - 1e-9)
        self.low, self.high = low, high if high > low else low + 1
        self.start, self.end = start, end

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def decades(self):
        return [10.0 ** exponent for exponent in range(math.ceil(self.low), math.floor(self.high) + 1)]


def text(x, y, words, anchor="end", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{html.escape(words)}</text>'


def svg(height, parts):
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img">{"".join(parts)}</svg>'


def lines(series, unit, value_text, size_text, x_ticks=X_TICKS):
    """`series`: [(name, class, [(size, value)])]. Each point shows its figure on hover."""
    points = [point for _, _, line in series for point in line]
    x = Scale([size for size, _ in points], LEFT, WIDTH - RIGHT, whole_decades=False)
    y = Scale([value for _, value in points], HEIGHT - BOTTOM, TOP)
    parts = []
    for value in y.decades():
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(text(LEFT - 6, y(value) + 4, tick_text(value, unit, value_text)))
    for size in x_ticks:
        if x.low - 1e-9 <= math.log10(size) <= x.high + 1e-9:
            parts.append(f'<line class="grid" y1="{TOP}" y2="{HEIGHT - BOTTOM}" x1="{x(size):.1f}" x2="{x(size):.1f}"/>')
            parts.append(text(x(size), HEIGHT - BOTTOM + 16, size_text("", size), "middle"))
    for name, kind, line in sorted(series, key=lambda entry: entry[1] == "margay"):
        path = " ".join(f"{x(size):.1f},{y(value):.1f}" for size, value in line)
        parts.append(f'<polyline class="line {kind}" points="{path}"/>')
        for size, value in line:
            label = f"{name}, {size_text('', size)}: {value_text(value, unit)}"
            parts.append(f'<circle class="dot {kind}" cx="{x(size):.1f}" cy="{y(value):.1f}" r="{2 if kind == "limit" else 3}">'
                         f"<title>{html.escape(label)}</title></circle>")
    return svg(HEIGHT, parts)


def tick_text(value, unit, value_text):
    """A decade without insignificant digits after the point."""
    number, _, of = value_text(value, unit).partition(" ")
    return f"{float(number):g} {of}"


def bars_height(groups):
    """The height of bars()."""
    return TOP + sum(len(members) * (BAR_HEIGHT + BAR_GAP) + GROUP_GAP for _, members in groups)


def bars(groups):
    """`groups`: [(name, [(stack, class, value or None, text)])], one below the other."""
    values = [value for _, members in groups for _, _, value, _ in members if value and value > 0]
    if not values:
        return ""
    x = Scale([min(values) / 2, *values], NAME_WIDTH, WIDTH - VALUE_WIDTH, whole_decades=False)
    parts, y = [], TOP
    for name, members in groups:
        parts.append(text(NAME_WIDTH - 8, y + 1.5 * BAR_HEIGHT + 6, name))
        for stack, kind, value, label in members:
            end = x(value) if value and value > 0 else NAME_WIDTH
            parts.append(f'<rect class="bar {kind}" x="{NAME_WIDTH}" y="{y}" width="{end - NAME_WIDTH:.1f}" '
                         f'height="{BAR_HEIGHT}"><title>{html.escape(f"{stack}, {name}: {label}")}</title></rect>')
            parts.append(text(end + 5, y + BAR_HEIGHT - 3, label if value is not None else "no result", "start", "value"))
            y += BAR_HEIGHT + BAR_GAP
        y += GROUP_GAP
    return svg(bars_height(groups), parts)
