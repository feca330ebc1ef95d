"""What may befall a run, at random moments: python3 faults.py FAULT|all PATH_OF_CPPLAN [TIMES]. Always:
it ends within its limit with the right exit code and one message, nothing is left running, and the
newest complete checkpoint loads. Exit code 0: all of that holds; 125: this machine does not allow it."""
import glob
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

from hurt_job import FLAGS, LAYOUTS, PHASES, STEPS, Ended, HurtJob, NotHere, one_odd_rank
from jobs import command, processes_of

SKIPPED = 125

def killed(phase):
    return hit(phase, [signal.SIGKILL], r"was killed by signal 9 \(SIGKILL\)|ended before its work")


def crashed(phase):
    return hit(phase, [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS],
        r"was killed by signal \d+ \(SIG|ended before its work")


def hit(phase, signals, how):
    with HurtJob() as job:
        ranks = job.at_random(phase)
        victim = random.choice(sorted(ranks))
        if not job.send(ranks[victim], random.choice(signals)):
            raise Ended
        check_named(job, phase, victim, how)
    return job.seconds


def check_named(job, phase, victim, how):
    """In the last moments of a job its work may have been done."""
    if phase == "end" and job.wait() == 0:
        raise Ended
    job.check_failed(rf"rank {victim}\b.* ({how})")


def stopped(phase):
    with HurtJob() as job:
        ranks = job.at_random(phase)
        victim = random.choice(sorted(ranks))
        if not job.send(ranks[victim], signal.SIGSTOP):
            raise Ended
        check_named(job, phase, victim, "was stopped|stopped making progress|ended before")
    return job.seconds


def thrown(phase):
    """What a rank asks of the system is refused: memory as it starts, files later."""
    if phase == "start-up":
        with tempfile.TemporaryDirectory() as tools:
            limit = random.randrange(50_000, 140_000)
            layout = LAYOUTS[0]
            victim = random.randrange(4)
            odd = one_odd_rank(tools, victim, f"ulimit -v {limit}")
            with HurtJob(layout=layout, environment=odd) as job:
                job.check_failed(rf"rank {victim}\b")
        return job.seconds
    with HurtJob() as job:
        ranks = job.at_random("training")
        victim = random.choice(sorted(ranks))
        resource.prlimit(ranks[victim], resource.RLIMIT_NOFILE, (3, 3))
        if job.code() == 0:
            raise Ended  # it had opened its last file
        # In its last step it is the record of the run that rank 0 cannot write.
        job.check_failed(rf"rank {victim}\b.* (failed|exited with 3) in step \d+",
                         "could not be written|cannot write")
    return job.seconds


def diverged(_):
    """The loss or a gradient is not a number after some steps."""
    rate = 10.0 ** random.randrange(20, 37)
    with HurtJob("--set", f"learning_rate={rate:.1e}") as job:
        job.check_failed(r"rank \d+ \(.+ failed in step \d+", "not finite: training diverged")
    return job.seconds


DIFFERENCES = {
    "--set learning_rate=0.002": "learning_rate 0.002 against 0.001",
    "--set seed=7": "seed 7 against 42",
    "--set cpplan.model.attention_dropout=0.2": "attention_dropout 0.2 against 0.1",
    "--set datasets=[{path:hurt_job.py}]": "another run than rank|no text to train on",
    "--set micro_batch_size=2": "micro_batch_size is 2, but must be 1",
    "--set learning_rate=fast": "learning_rate takes a number",
}


def differing(_):
    """One rank is about to train another run."""
    flags, words = random.choice(list(DIFFERENCES.items()))
    with tempfile.TemporaryDirectory() as tools:
        victim = random.randrange(3)
        odd = one_odd_rank(tools, victim, f"more='{flags}'")
        with HurtJob(layout=LAYOUTS[2], environment=odd) as job:
            job.check_failed(rf"rank {victim}\b.* (failed|exited)", words)
    return job.seconds


def launcher_killed(phase):
    with HurtJob() as job:
        ranks = job.at_random(phase)
        mpirun = set(processes_of(job.process)) - set(ranks.values())
        if not mpirun or not job.send(mpirun.pop(), signal.SIGKILL):
            raise Ended
        if phase == "end" and job.wait() == 0:
            raise Ended
        job.check_failed("mpirun was killed by signal 9|ended before its work")
    return job.seconds


def interrupted(phase):
    """Ctrl-C, and again before the end has come."""
    with HurtJob() as job:
        if phase == "start-up":
            time.sleep(random.uniform(0, 1))
        else:
            job.at_random(phase)
        job.ranks()
        job.send(job.process.pid, signal.SIGINT)
        time.sleep(random.uniform(0, 0.3))
        job.process.send_signal(signal.SIGINT)
        code = job.code()
        if phase == "end" and code == 0:
            raise Ended
        assert code == 130, (code, job.read("out"), job.read("err"))
        assert "rank-failed" not in job.read("err")
        job.check_loads()
    return job.seconds


def one_folder(_):
    """A second run in the folder of the first is told whose it is, and does not disturb it."""
    with HurtJob() as job:
        job.at_random("training")
        flags = random.choice([["--run-folder", job.kept], ["--set", f"output_dir={job.saved}"]])
        second = subprocess.run(command(*FLAGS, str(STEPS), "--transport", "threads", *flags), text=True,
                                capture_output=True, timeout=60)
        first = job.code()
        assert first == 0, (first, job.read("err"))
        through = "not written over" in second.stderr  # the first, by the time the second looked
        assert second.returncode == 3, second
        assert through or re.search(r"another run writes .* of process \d+ on", second.stderr), second
        job.check_kept(0)
        job.check_loads()
    return job.seconds


def full_disk(_):
    """The disk is full in the middle of a checkpoint."""
    with HurtJob(room=random.randrange(100, 1300)) as job:
        job.check_failed("no space left on device|does not fit|there is no room", "checkpoint|cpplan.lock")
    return job.seconds


def damaged(_):
    """A checkpoint that was cut short, or of which a bit has changed, is found and passed over."""
    with HurtJob() as job:
        assert job.code() == 0, job.read("err")
        path = random.choice([path for path in glob.glob(f"{job.saved}/step-{STEPS}/*")
                              if path.endswith((".safetensors", "manifest.json"))])
        with open(path, "r+b") as file:
            size = os.path.getsize(path)
            at = random.randrange(size)
            if random.random() < 0.5:
                file.truncate(at)
            else:
                file.seek(at)
                byte = file.read(1)[0]
                file.seek(at)
                file.write(bytes([byte ^ (1 << random.randrange(8))]))
        found = subprocess.run([sys.argv[2], "checkpoint", "verify", job.saved], text=True,
                               capture_output=True, timeout=60)
        assert found.returncode == 1, (path, at, size, found)
        again = subprocess.run(command(*job.layout, *FLAGS, str(STEPS), "--set", f"output_dir={job.saved}",
                                       "--resume", "--transport", "threads"), text=True,
                               capture_output=True, timeout=100)
        assert again.returncode == 0, (path, at, size, again)
        assert f"step-{STEPS} is passed over" in again.stderr, again.stderr
        assert f"going on after step {STEPS - 3} " in again.stderr, again.stderr
        job.check_loads()
    return job.seconds


FAULTS = {case.__name__: case
          for case in (killed, stopped, crashed, thrown, diverged, differing, launcher_killed,
                       interrupted, one_folder, full_disk, damaged)}


def suffer(name, times):
    """That often, in every phase of a job in turn; a job that was through before is made again. Whether
    this machine allows it."""
    seconds, first = [], random.randrange(len(PHASES))
    while len(seconds) < times:
        try:
            seconds.append(FAULTS[name](PHASES[(first + len(seconds)) % len(PHASES)]))
        except Ended:
            first += 1
        except NotHere as reason:
            print(f"{name}: SKIPPED: {reason}", flush=True)
            return False
    print(f"{name}: {times} times, over after {min(seconds):.2f} to {max(seconds):.2f} s", flush=True)
    return True


def main(fault, times=1):
    names = list(FAULTS) if fault == "all" else [fault]
    return 0 if any([suffer(name, int(times)) for name in names]) else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *sys.argv[3:]))
