"""Figures of `margay simulate` beside SMPI: medians, ratios, goals. Pure."""
from dataclasses import dataclass
from statistics import median

OURS, THEIRS = "margay", "SMPI"
HEAD = ("workload", "margay", "SMPI", "ratio", "goal", "", "margay", "SMPI", "ratio", "goal", "", "simulated", "SMPI")


@dataclass(frozen=True)
class Verdict:
    """A figure, margay's median and SMPI's (None: it does not run), and what the goal compares: their ratio, or ours."""
    ours: float
    theirs: float
    goal: float

    @property
    def compared(self):
        return self.ours / self.theirs if self.theirs else self.ours

    @property
    def is_met(self):
        """None: there is no goal."""
        return self.compared <= self.goal if self.goal else None


def judge(case, samples):
    """The verdicts on time and memory of a case, of {simulator: [samples]}."""
    def middle(name, field):
        return median(getattr(sample, field) for sample in samples[name]) if name in samples else None

    return (Verdict(middle(OURS, "seconds"), middle(THEIRS, "seconds"), case.time_most),
            Verdict(middle(OURS, "bytes"), middle(THEIRS, "bytes"), case.memory_most))


def seconds_text(seconds):
    return "" if seconds is None else f"{seconds:.3g} s"


def bytes_text(count):
    return "" if count is None else f"{count / 1e6:.4g} MB"


def cells(verdict, text):
    """Five columns: both figures, ratio, goal, verdict."""
    is_ratio = verdict.theirs is not None
    ratio = f"{verdict.compared:.3f}" if is_ratio else ""
    goal = "" if not verdict.goal else f"<= {verdict.goal:g}" if is_ratio else f"<= {text(verdict.goal)}"
    word = {None: "", True: "met", False: "NOT MET"}[verdict.is_met]
    return text(verdict.ours), text(verdict.theirs), ratio, goal, word


def rows(measured):
    """The table: time, then memory, then the simulated times, of {case: {simulator: [samples]}}."""
    table = [("", "time", "", "", "", "", "memory", "", "", "", "", "", ""), HEAD]
    for case, samples in measured.items():
        simulated = [f"{1e3 * samples[name][0].simulated_s:.4g} ms" if name in samples and samples[name][0].simulated_s else ""
                     for name in (OURS, THEIRS)]
        table.append((case.title, *(cell for verdict, text in zip(judge(case, samples), (seconds_text, bytes_text)) for cell in cells(verdict, text)),
                      *simulated))
    return table


def summary(measured):
    met = [verdict.is_met for case, samples in measured.items() for verdict in judge(case, samples) if verdict.is_met is not None]
    return [f"{len(met)} goals: {sum(met)} met, {len(met) - sum(met)} not met."]
