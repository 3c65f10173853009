"""Cases of names between jobs of one user: a name is published once, found by other jobs, and goes with its job."""
import pathlib
import signal
import subprocess
import tempfile

import support

GUARD_S = 60  # against hanging; no case depends on the duration of an operation
SUCCESS, SERVICE, NAME = "success", "MPI_ERR_SERVICE", "MPI_ERR_NAME"


class Job:
    """A job of names.c, which carries out orders, ended at the end of the block."""

    def __init__(self, case, user, *options):
        self.case = case
        command = [case.build.tool("margay"), "run", "-n", "1", "--timeout", str(GUARD_S), *options, str(case.ours("names.c"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=support.clean_environment({"MARGAY_USER_FOLDER": str(user)}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.end()

    def order(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def expect(self, order, result, *fragments):
        """Carries out an order; the result begins with a word, and has these fragments."""
        self.order(order)
        line = self.process.stdout.readline().rstrip("\n")
        if line.split(" ")[0] != result or not all(fragment in line for fragment in fragments):
            self.case.problems.append(f"{order}: expected {result} {fragments}, not {line!r}")

    def end(self):
        """The exit status, after the end of the input."""
        self.process.communicate(timeout=GUARD_S)
        return self.process.returncode


def folder_of_user(case):
    return pathlib.Path(tempfile.mkdtemp(dir=case.folder)) / "user"


def files(user):
    """What the folder of names contains."""
    names = user / "names"
    return sorted(path.name for path in names.iterdir()) if names.exists() else []


def expect(case, holds, words):
    if not holds:
        case.problems.append(words)


def case_names_between_jobs(case):
    """A name of one job is found by another, which can neither publish nor withdraw it; it goes with its job, and is taken over
    from a launcher that was killed."""
    user = folder_of_user(case)
    with Job(case, user) as first, Job(case, user) as second, Job(case, user) as third:
        second.expect("lookup ocean", NAME)
        first.expect("publish ocean a-port", SUCCESS)
        second.expect("lookup ocean", SUCCESS, "a-port")
        second.expect("publish ocean b-port", SERVICE, "service_is_published", str(first.process.pid))
        second.expect("unpublish ocean a-port", SERVICE)
        first.expect("publish ocean b-port", SERVICE)
        first.expect("publish ../../x=%41 c-port", SUCCESS)
        third.expect("lookup ../../x=%41", SUCCESS, "c-port")
        first.expect("unpublish ../../x=%41 a-port", SERVICE)
        first.expect("unpublish ../../x=%41 c-port", SUCCESS)
        third.expect("lookup ../../x=%41", NAME)
        expect(case, files(user) == ["ocean"], f"one name is published: {files(user)}")
        expect(case, first.end() == 0 and not files(user), "the end of the first job")
        second.expect("lookup ocean", NAME)
        second.expect("publish ocean b-port", SUCCESS)
        third.expect("lookup ocean", SUCCESS, "b-port")
        second.process.kill()
        second.process.wait(GUARD_S)
        expect(case, files(user) == ["ocean"], "a launcher that is killed leaves its name")
        third.expect("lookup ocean", NAME)
        third.expect("publish ocean c-port", SUCCESS)
        third.expect("lookup ocean", SUCCESS, "c-port")
        expect(case, third.end() == 0 and not files(user), "the end of the third job")


def case_names_withdrawn(case):
    """However a job ends, its names are removed, unless the launcher is killed."""
    ends = {"exit": lambda job: job.order("exit"), "interrupt": lambda job: job.process.send_signal(signal.SIGINT),
            "end of input": lambda job: None}
    for how, end in ends.items():
        user = folder_of_user(case)
        with Job(case, user) as job:
            job.expect("publish ocean a-port", SUCCESS)
            job.expect(f"publish {'n' * 255} b-port", SUCCESS)
            expect(case, len(files(user)) == 2, f"{how}: two names are published: {files(user)}")
            end(job)
            job.process.wait(GUARD_S) if how != "end of input" else job.end()
            expect(case, (job.process.returncode == 0) == (how == "end of input"), f"{how}: status {job.process.returncode}")
        expect(case, not files(user), f"{how}: no name is left: {files(user)}")


def case_names_refused_folder(case):
    """A user's folder that others can read is not used: names work within the job, and a lookup that finds nothing has the
    reason. A job that uses no names does not look at the folder."""
    user = folder_of_user(case)
    with Job(case, user) as job:
        expect(case, job.end() == 0 and not user.exists(), "a job without names makes no folder")
    user.mkdir(mode=0o755)
    user.chmod(0o755)
    with Job(case, user) as job:
        job.expect("publish ocean a-port", SUCCESS)
        job.expect("lookup ocean", SUCCESS, "a-port")
        job.expect("lookup sea", NAME, "service_not_found", str(user))
        job.expect("unpublish ocean a-port", SUCCESS)
        expect(case, job.end() == 0 and not list(user.iterdir()), "the refused folder is not used")
