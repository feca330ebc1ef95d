"""`cpplan run` over several hosts: python3 jobs.py CASE CPPLAN HOSTS_LOCAL. Exit code 0: the case
holds, 77: this machine allows no such hosts."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASE, CPPLAN, HOSTS_LOCAL = sys.argv[1:]
SKIPPED = 77
LAYOUT = ["--set", "tensor_parallel_size=2", "--set", "context_parallel_size=2"]


class Hosts:
    """Some hosts, and a folder with a config that all of them see."""

    def __init__(self, *names):
        self.names = names

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="cpplan-hosts-test-")
        self.environment = dict(os.environ, HOSTS_LOCAL=os.path.join(self.folder, "hosts"),
                                OMPI_MCA_plm_rsh_agent=f"{HOSTS_LOCAL} agent")
        started = self.call("start", *self.names)
        if started.returncode == 3:
            print(f"SKIPPED: {started.stderr.strip()}")
            shutil.rmtree(self.folder, ignore_errors=True)
            sys.exit(SKIPPED)
        assert started.returncode == 0, started.stderr
        for name in ("text.txt", "job.yaml"):
            shutil.copy(os.path.join(HERE, "..", "run", name), self.folder)
        return self

    def __exit__(self, *_):
        self.call("stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, *words):
        return subprocess.run([HOSTS_LOCAL, *words], env=self.environment, text=True,
                              capture_output=True, timeout=60)

    def command(self, *flags):
        """On the first host; a name of the program that no other process of the machine has."""
        return [HOSTS_LOCAL, "run", self.names[0], CPPLAN, "run",
                os.path.join(self.folder, "job.yaml"), *LAYOUT, *flags]

    def run(self, *flags):
        return subprocess.run(self.command(*flags), env=self.environment, text=True,
                              capture_output=True, timeout=100)

    def record(self, *flags):
        path = os.path.join(self.folder, "run.json")
        done = self.run("--steps", "5", "--record", path, *flags)
        assert done.returncode == 0, done.stdout + done.stderr
        with open(path) as file:
            return json.load(file)

    def pids(self):
        return {int(pid): name for name in self.names for pid in self.call("pids", name).stdout.split()}


class Job:
    """A run over both hosts, with two ranks on each, which has come to its third step."""

    def __init__(self, hosts, *flags):
        self.hosts = hosts
        self.process = subprocess.Popen(
            hosts.command("-n", "4", "--hosts", "host1:2,host2:2", *flags), env=hosts.environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.split()[:1] == ["3"]:
                break
        else:
            raise AssertionError(self.process.stderr.read())
        self.ranks = {}
        for pid in hosts.pids():
            with open(f"/proc/{pid}/environ") as file:
                rank = re.search(r"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)", file.read())
            if rank:
                self.ranks[int(rank.group(1))] = pid
        assert sorted(self.ranks) == [0, 1, 2, 3], self.ranks

    def supervisor(self):
        """Its pid; ours is that of the script which became it."""
        return self.process.pid

    def end(self, limit):
        begin = time.monotonic()
        _, errors = self.process.communicate(timeout=limit + 60)
        seconds = time.monotonic() - begin
        assert seconds < limit, f"took {seconds:.1f} s to end: {errors}"
        return errors

    def check_failed(self, limit, pattern):
        errors = self.end(limit)
        assert self.process.returncode == 4, (self.process.returncode, errors)
        assert len(re.findall("rank-failed", errors)) == 1, errors
        assert re.search(pattern, errors), errors

    def check_gone(self, limit=5):
        end = time.monotonic() + limit
        while self.hosts.pids() and time.monotonic() < end:
            time.sleep(0.1)
        assert not self.hosts.pids(), f"left behind: {self.hosts.pids()}"


def result_of(record):
    """What must not depend on where ranks run: everything but times."""
    steps = [{key: step[key] for key in ("step", "loss", "grad_norm")} for step in record["steps"]]
    return steps, record["parameters"], record["communication"]


def equal():
    """Two hosts train bit for bit as one does."""
    with Hosts("host1", "host2") as hosts:
        apart = hosts.record("-n", "4", "--hosts", "host1:2,host2:2", "--check")
        together = hosts.record("-n", "4")
        assert len(apart["steps"]) == 5 and result_of(apart) == result_of(together)


def three():
    """Three hosts, unevenly, from a hostfile; a torn group is reported."""
    with Hosts("host1", "host2", "host3") as hosts:
        path = os.path.join(hosts.folder, "hostfile")
        with open(path, "w") as file:
            file.write("# of this machine\nhost1 slots=3\nhost2 slots=4\n\nhost3\n")
        flags = ["-n", "8", "--set", "data_parallel_size=2"]
        apart = hosts.record(*flags, "--hostfile", path)
        assert result_of(apart) == result_of(hosts.record(*flags))
        told = hosts.run(*flags, "--hostfile", path, "--steps", "1")
        assert told.returncode == 0 and "tensor-parallel-across-hosts" in told.stderr, told


def killed():
    """Of any host, by its number, its host and its signal."""
    for victim, host in ((3, "host2"), (0, "host1"), (2, "host2")):
        with Hosts("host1", "host2") as hosts:
            job = Job(hosts)
            os.kill(job.ranks[victim], signal.SIGKILL)
            job.check_failed(8, rf"rank {victim} \({host}, pid {job.ranks[victim]}\) was killed by "
                                r"signal 9 \(SIGKILL\) in step \d+")
            job.check_gone()


def stopped():
    for victim, words in ((3, "has not been heard from"), (1, "was stopped")):
        with Hosts("host1", "host2") as hosts:
            job = Job(hosts, "--timeout", "5")
            os.kill(job.ranks[victim], signal.SIGSTOP)
            job.check_failed(15, rf"rank {victim} \(host\d, pid {job.ranks[victim]}\) {words}")
            job.check_gone()


def unplugged():
    """The network of a host is gone: one message within the deadline, and all of it ends."""
    with Hosts("host1", "host2") as hosts:
        job = Job(hosts, "--timeout", "5")
        assert hosts.call("unplug", "host2").returncode == 0
        job.check_failed(15, r"rank [23] \(host2, pid \d+\) has not been heard from")
        job.check_gone(40)


def interrupted():
    with Hosts("host1", "host2") as hosts:
        job = Job(hosts)
        os.kill(job.supervisor(), signal.SIGINT)
        errors = job.end(8)
        assert job.process.returncode == 130, (job.process.returncode, errors)
        job.check_gone()


def launcher_killed():
    """Neither mpirun nor the supervisor leave anything running on any host when killed."""
    with Hosts("host1", "host2") as hosts:
        job = Job(hosts)
        mpirun = [pid for pid in hosts.pids() if open(f"/proc/{pid}/comm").read() == "mpirun\n"]
        os.kill(mpirun[0], signal.SIGKILL)
        job.check_failed(8, "mpirun was killed by signal 9")
        job.check_gone()
        job = Job(hosts)
        os.kill(job.supervisor(), signal.SIGKILL)
        job.check_gone(8)


def asked():
    """SIGUSR1 to the supervisor: ranks of all hosts write a checkpoint, and the run goes on later."""
    with Hosts("host1", "host2") as hosts:
        flags = ["--set", f"output_dir={hosts.folder}/out", "--set", "max_steps=400"]
        job = Job(hosts, *flags, "--save-every", "1000")
        os.kill(job.supervisor(), signal.SIGUSR1)
        errors = job.end(20)
        assert job.process.returncode == 75, (job.process.returncode, errors)
        job.check_gone()
        saved, = [int(name[5:]) for name in os.listdir(f"{hosts.folder}/out")
                  if re.fullmatch(r"step-\d+", name)]
        again = hosts.run("-n", "4", "--hosts", "host1:2,host2:2", *flags, "--resume", "--steps",
                          str(saved + 2))
        assert again.returncode == 0, again
        assert f"going on after step {saved} " in again.stderr, again.stderr
        assert re.search(rf"^ *{saved + 2} ", again.stdout, re.MULTILINE), again.stdout


if __name__ == "__main__":
    cases = (equal, three, killed, stopped, unplugged, interrupted, launcher_killed, asked)
    {case.__name__: case for case in cases}[CASE]()
