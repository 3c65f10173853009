"""Variants: the numbers that a seed gives a lab, in its page, its program (variant.h) and its check.

Names that begin with `page_` are not in variant.h: tables and sentences of the page and the answer.
"""

import random
import re

from frame.say import CouldNotRun

INT_MAX = 2**31 - 1
TRIES = 20000


def make(lab, seed):
    """The lab's numbers for a seed: a dict of names to int, str, or list of int. The same on every machine."""
    return {"seed": seed, **lab.variant(random.Random(f"{lab.NAME} {seed}"))}


def telling(draw, accepts):
    """Numbers of draw() for which accepts(numbers) holds, that is, in which each typical mistake shows. tests/labs/variants_test.py
    tries the mistakes with many seeds."""
    for _ in range(TRIES):
        values = draw()
        if accepts(values):
            return values
    raise CouldNotRun("no valid variant for this seed; use another seed")


def constant(name):
    """`short_bytes` is `kShortBytes` in C."""
    return "k" + "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def literal(value):
    return f"0x{value:x}ULL" if value > INT_MAX else str(value)


def header(values):
    """variant.h for C and C++."""
    lines = ["/* The numbers of this variant. `margay lab run` and `check` overwrite this file: changes are lost. */", "#ifndef VARIANT_H", "#define VARIANT_H", ""]
    for name, value in values.items():
        if name.startswith("page_"):
            continue
        if isinstance(value, str):
            lines.append(f'#define {constant(name)} "{value}"')
        elif isinstance(value, (list, tuple)):
            kind = "unsigned long long" if any(item > INT_MAX for item in value) else "int"
            lines.append(f"static const {kind} {constant(name)}[] = {{{', '.join(map(literal, value))}}};")
            lines.append(f"#define {constant(name)}Count {len(value)}")
        else:
            lines.append(f"#define {constant(name)} {literal(value)}")
    return "\n".join(lines + ["", "#endif", ""])


def fill(text, values):
    """Replaces {name} in a text. Other braces stay, because pages contain C."""
    def one(match):
        value = values.get(match.group(1))
        if value is None:
            return match.group(0)
        return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return re.sub(r"\{([a-z_0-9]+)\}", one, text)
