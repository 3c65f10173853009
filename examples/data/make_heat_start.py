#!/usr/bin/env python3
"""Draws heat_start.pgm, the start temperatures of heat2d: a sitting margay, warm, before a cool evening sky.

    examples/data/make_heat_start.py examples/data/heat_start.pgm
"""
import math
import sys

WIDTH, HEIGHT = 240, 160
WARM, COOL, EDGE = 235.0, 20.0, 1.5


def ellipse(x, y, cx, cy, rx, ry, turn=0.0):
    """Roughly the distance outside an ellipse; negative inside."""
    dx, dy = x - cx, y - cy
    u = dx * math.cos(turn) + dy * math.sin(turn)
    v = -dx * math.sin(turn) + dy * math.cos(turn)
    return (math.hypot(u / rx, v / ry) - 1.0) * min(rx, ry)


def triangle(x, y, corners):
    (ax, ay), (bx, by), (cx, cy) = corners
    sides = []
    for (px, py), (qx, qy) in (((ax, ay), (bx, by)), ((bx, by), (cx, cy)), ((cx, cy), (ax, ay))):
        length = math.hypot(qx - px, qy - py)
        sides.append(((x - px) * (qy - py) - (y - py) * (qx - px)) / length)
    return max(sides)


def tail(x, y):
    """A margay's tail is nearly as long as its body: a thick curve, up and round."""
    nearest = 1e9
    for i in range(80):
        t = i / 79
        cx = 132 + 66 * t + 10 * math.sin(3.0 * t)
        cy = 134 - 6 * math.sin(math.pi * t) - 86 * t * t * t
        nearest = min(nearest, math.hypot(x - cx, y - cy) - (7.5 - 2.0 * t))
    return nearest


def cat(x, y):
    return min(
        ellipse(x, y, 104, 108, 30, 38),                                # body
        ellipse(x, y, 122, 126, 24, 20),                                # haunch
        ellipse(x, y, 92, 52, 23, 20),                                  # head
        ellipse(x, y, 97, 78, 18, 20),                                  # neck
        triangle(x, y, ((72, 46), (74, 18), (91, 35))),                 # ears
        triangle(x, y, ((95, 35), (112, 18), (113, 46))),
        ellipse(x, y, 86, 128, 7.5, 20),                                # fore legs
        ellipse(x, y, 104, 130, 7.5, 19),
        ellipse(x, y, 83, 146, 11, 5.5),                                # paws
        ellipse(x, y, 102, 147, 11, 5.5),
        tail(x, y),
    )


ROSETTES = [(96, 90, 4), (112, 92, 5), (126, 104, 5), (112, 108, 5), (98, 106, 4), (122, 120, 5), (106, 122, 4),
            (136, 122, 4), (118, 136, 4), (130, 136, 4), (92, 100, 3)]


def temperature(x, y):
    sky = COOL + 40.0 * y / HEIGHT + 25.0 * math.exp(-((x - 196) ** 2 + (y - 30) ** 2) / 260.0)
    inside = min(max(0.5 - cat(x, y) / (2 * EDGE), 0.0), 1.0)
    warmth = WARM
    for cx, cy, radius in ROSETTES:
        ring = abs(math.hypot(x - cx, y - cy) - radius)
        warmth -= 110.0 * max(0.0, 1.0 - ring / 2.0)
    for cx in (84, 101):                                                # eyes
        warmth -= 190.0 * max(0.0, min(1.0, -ellipse(x, y, cx, 51, 5.0, 6.0) / 2.0))
    warmth -= 120.0 * max(0.0, min(1.0, -triangle(x, y, ((88, 60), (97, 60), (92.5, 65))) / 1.5))  # nose
    return sky + inside * (max(warmth, 0.0) - sky)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    pixels = bytes(int(min(max(temperature(x + 0.5, y + 0.5), 0.0), 255.0)) for y in range(HEIGHT) for x in range(WIDTH))
    with open(sys.argv[1], "wb") as image:
        image.write(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + pixels)


if __name__ == "__main__":
    main()
