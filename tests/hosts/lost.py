"""A host is lost at a random moment of a run over two: python3 lost.py TIMES CPPLAN HOSTS_LOCAL. Exit
code 0: the run always ends within its limit with one message and exit code 4, nothing of it is left
on any host, and the newest complete checkpoint loads; 77: this machine allows no such hosts."""
import glob
import os
import random
import re
import subprocess
import sys
import time

from jobs import CPPLAN, Hosts

TIMES = int(sys.argv[1])
STEPS, TIMEOUT, PATIENCE = 40, 5, 15
FLAGS = ["--save-every", "4", "--set", "gradient_accumulation_steps=4", "--steps"]


def ranks_of(hosts):
    found = set()
    for pid in hosts.pids():
        try:
            with open(f"/proc/{pid}/environ") as file:
                found |= set(re.findall(r"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", file.read()))
        except OSError:
            pass
    return found


def wait_until(job, condition):
    end = time.monotonic() + 60
    while not condition() and job.poll() is None:
        assert time.monotonic() < end, "the job does not come to that moment"
        time.sleep(0.01)


def at_random(job, hosts, output):
    """Some moment between the start of the ranks and the last step."""
    wait_until(job, lambda: len(ranks_of(hosts)) == 4)
    if random.random() < 0.3:
        return time.sleep(random.uniform(0, 0.5))
    step = random.randrange(1, STEPS)
    wait_until(job, lambda: re.search(rf"^ +{step} ", open(output).read(), re.MULTILINE))


def check_gone(hosts):
    """On the lost host nobody hears of the end: its ranks end by their own limits."""
    end = time.monotonic() + 60
    while hosts.pids() and time.monotonic() < end:
        time.sleep(0.1)
    assert not hosts.pids(), f"left behind: {hosts.pids()}"


def check_loads(hosts, saved):
    steps = [int(path.rsplit("-", 1)[1]) for path in glob.glob(saved + "/step-*")
             if re.fullmatch(r"step-\d+", os.path.basename(path))]
    if not steps:
        return
    verified = subprocess.run([CPPLAN, "checkpoint", "verify", saved], timeout=60, text=True,
                              capture_output=True)
    assert verified.returncode == 0, verified
    again = hosts.run("-n", "4", "--set", f"output_dir={saved}", "--resume", "--transport", "threads",
                      *FLAGS, str(max(steps) + 1))
    assert again.returncode == 0 and f"going on after step {max(steps)} " in again.stderr, again


def lose():
    """Seconds from the loss to the end; none where the run was through before."""
    with Hosts("host1", "host2") as hosts:
        saved, output, errors = (os.path.join(hosts.folder, name) for name in ("saved", "out", "err"))
        with open(output, "w") as out, open(errors, "w") as err:
            job = subprocess.Popen(
                hosts.command("-n", "4", "--hosts", "host1:2,host2:2", "--timeout", str(TIMEOUT),
                              "--set", f"output_dir={saved}", *FLAGS, str(STEPS)),
                env=hosts.environment, stdout=out, stderr=err)
        at_random(job, hosts, output)
        if job.poll() is not None:
            return None
        begin = time.monotonic()
        assert hosts.call("unplug", "host2").returncode == 0
        job.wait(timeout=TIMEOUT + PATIENCE)
        seconds = time.monotonic() - begin
        said = open(errors).read()
        if job.returncode == 0 and re.search(rf"^ +{STEPS} ", open(output).read(), re.MULTILINE):
            return None
        assert job.returncode == 4, (job.returncode, said)
        assert said.count("rank-failed") == 1 and re.search(r"host2|rank [23]|mpirun", said), said
        check_gone(hosts)
        check_loads(hosts, saved)
        return seconds


def main():
    seconds = []
    while len(seconds) < TIMES:
        seconds += filter(None, [lose()])
    print(f"host lost: {TIMES} times, over after {min(seconds):.1f} to {max(seconds):.1f} s")


if __name__ == "__main__":
    main()
