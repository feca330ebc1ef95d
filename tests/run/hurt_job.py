"""A `cpplan run` that is hurt at a random moment, and what must hold whatever was done to it."""
import glob
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from jobs import alive, command, processes_of

STEPS = 9
TIMEOUT = 4  # of the ranks' waits
PATIENCE = 10  # that a busy machine may take beside it
FLAGS = ["--timeout", str(TIMEOUT), "--save-every", "3", "--set", "gradient_accumulation_steps=8",
         "--steps"]
LAYOUTS = [["-n", "4", "--set", "tensor_parallel_size=2", "--set", "context_parallel_size=2"],
           ["-n", "4", "--set", "pipeline_parallel_size=2", "--set", "data_parallel_size=2"],
           ["-n", "3", "--set", "context_parallel_size=3"],
           ["-n", "2", "--set", "tensor_parallel_size=2"]]
PHASES = ("start-up", "training", "end")


class Ended(Exception):
    """The job was through before it could be hurt."""


class NotHere(Exception):
    """This machine does not allow it."""


class HurtJob:
    """Lives in a folder of its own, which holds its output, its run folder and its checkpoints."""

    def __init__(self, *flags, layout=None, environment=None, room=None):
        self.home = tempfile.TemporaryDirectory(prefix="cpplan-faults-")
        self.layout = layout or random.choice(LAYOUTS)
        self.world = int(self.layout[1])
        self.saved, self.kept = self.path("saved"), self.path("kept")
        self.mounted = room is not None and self.mount(room)
        self.seen = set()
        self.hurt = time.monotonic()
        line = command(*self.layout, *FLAGS, str(STEPS), "--set", f"output_dir={self.saved}", "--run-folder",
                       self.kept, *flags)
        with open(self.path("out"), "w") as out, open(self.path("err"), "w") as err:
            self.process = subprocess.Popen(line, stdout=out, stderr=err,
                                            env=os.environ | (environment or {}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        if self.mounted:
            subprocess.run(["umount", self.saved], check=True)
        self.home.cleanup()

    def mount(self, kilobytes):
        """A disk for the checkpoints that is soon full."""
        os.mkdir(self.saved)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", self.saved],
                              capture_output=True, text=True)
        if made.returncode != 0:
            self.home.cleanup()
            raise NotHere(f"no file system can be mounted ({made.stderr.strip()})")
        return True

    def path(self, name):
        return os.path.join(self.home.name, name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def ranks(self):
        """Processes of the ranks by number, and those of the job in `seen`."""
        found = processes_of(self.process)
        self.seen |= set(found)
        return {rank: pid for pid, rank in found.items() if rank is not None}

    def step(self):
        lines = [line.split() for line in self.read("out").splitlines()]
        return max([int(words[0]) for words in lines if len(words) == 5 and words[0].isdigit()],
                   default=0)

    def wait_until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, (self.read("out"), self.read("err"))
            if self.process.poll() is not None:
                raise Ended
            time.sleep(0.005)

    def at_random(self, phase):
        """A random moment of that phase; the ranks that live then."""
        self.wait_until(lambda: len(self.ranks()) == self.world)
        if phase == "start-up":
            time.sleep(random.uniform(0, 0.4))
        else:
            step = STEPS if phase == "end" else random.randrange(1, STEPS)
            self.wait_until(lambda: self.step() >= step)
            time.sleep(random.uniform(0, 0.05))
        ranks = self.ranks()
        if self.process.poll() is not None or not ranks:
            raise Ended
        return ranks

    def send(self, pid, number):
        """Whether it was alive."""
        if not alive(pid):
            return False
        self.hurt = time.monotonic()
        os.kill(pid, number)
        return True

    def wait(self):
        """The exit code, which comes within the limit."""
        try:
            return self.process.wait(timeout=TIMEOUT + PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"does not end: {self.read('out')} {self.read('err')}") from None

    def code(self):
        """The exit code; nothing of the job is left when it comes."""
        self.wait()
        self.seconds = time.monotonic() - self.hurt
        left = [pid for pid in self.seen if alive(pid)]
        assert not left, f"processes left behind: {left}"
        code = self.process.returncode
        return 130 if code == -signal.SIGINT else code  # as a shell says it

    def message(self, *patterns):
        """The one message of a run that failed: it says all that."""
        errors = self.read("err")
        assert len(re.findall(r"rank-failed", errors)) == 1, errors
        for pattern in patterns:
            assert re.search(pattern, errors), (pattern, errors)

    def check_kept(self, code):
        """The outcome says what the exit code says, and the plan is there."""
        with open(os.path.join(self.kept, "outcome.json")) as file:
            outcome = json.load(file)
        assert outcome["exit"] == code and (outcome["failure"] is not None) == (code == 4), outcome
        with open(os.path.join(self.kept, "plan.json")) as file:
            assert json.load(file)["schema"] == "cpplan/plan/1"
        if self.step() > 0:
            with open(os.path.join(self.kept, "rank-0.log")) as file:
                logged = file.read()
            assert logged.startswith("# ") and f"\n{self.step():6}  " in logged, logged
        if code == 0:
            with open(os.path.join(self.kept, "run.json")) as file:
                record = json.load(file)
            assert len(record["steps"]) == STEPS and record["waits"]["groups"], record

    def check_loads(self):
        """The newest complete checkpoint, if there is one, loads, and nothing half stands there."""
        saved = [int(path.rsplit("-", 1)[1]) for path in glob.glob(self.saved + "/step-*")
                 if re.fullmatch(r"step-\d+", os.path.basename(path))]
        if not saved:
            return
        checked = subprocess.run([sys.argv[2], "checkpoint", "verify", self.saved],
                                 capture_output=True, text=True, timeout=60)
        assert checked.returncode == 0, (checked.stdout, checked.stderr)
        copy = shutil.copytree(self.saved, self.path("copy"))  # where there is room
        again = subprocess.run(
            command(*self.layout, *FLAGS, str(max(saved) + 1), "--set", f"output_dir={copy}",
                    "--resume", "--transport", "threads"),
            capture_output=True, text=True, timeout=100)
        assert again.returncode == 0, again.stderr
        assert f"going on after step {max(saved)} " in again.stderr, again.stderr

    def check_failed(self, *patterns):
        code = self.code()
        assert code == 4, (code, self.read("out"), self.read("err"))
        self.message(*patterns)
        self.check_kept(4)
        self.check_loads()


def one_odd_rank(folder, rank, change):
    """An environment whose mpirun starts that rank by way of `change`, lines of a shell that may end
    with arguments in `more`."""
    real = subprocess.run(["sh", "-c", "command -v mpirun"], capture_output=True, text=True,
                          check=True).stdout.strip()
    write_program(os.path.join(folder, "rank"),
                  f'if [ "$OMPI_COMM_WORLD_RANK" = {rank} ]; then {change}; fi\n'
                  'exec "$@" $more\n')
    write_program(os.path.join(folder, "mpirun"), f"""
        at=1
        for word in "$@"; do [ "$word" = "{sys.argv[2]}" ] && break; at=$((at + 1)); done
        exec {real} "${{@:1:at-1}}" {folder}/rank "${{@:at}}"
    """)
    return {"PATH": folder + os.pathsep + os.environ["PATH"]}


def write_program(path, text):
    with open(path, "w") as file:
        file.write("#!/bin/bash\n" + text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
