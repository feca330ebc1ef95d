"""Jobs under a real SLURM: python3 jobs.py CASE CPPLAN SLURM_LOCAL. Exit code 0: the case holds,
77: this machine allows no such SLURM."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CASE, CPPLAN, SLURM_LOCAL = sys.argv[1:]
SKIPPED = 77

# Frames of the made-up hosts carry messages between nodes; more ranks than cores must yield.
ENVIRONMENT = dict(
    os.environ, PATH=os.path.dirname(CPPLAN) + os.pathsep + os.environ["PATH"],
    OMPI_MCA_pml="ob1", OMPI_MCA_btl="self,vader,tcp", OMPI_MCA_mpi_yield_when_idle="1",
    OMPI_MCA_btl_tcp_if_include="10.79.0.0/24", OMPI_MCA_oob_tcp_if_include="10.79.0.0/24")


class Cluster:
    """The local SLURM, and a folder with a config that a job reads."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="cpplan-slurm-test-")
        os.chmod(self.folder, 0o755)
        self.environment = dict(ENVIRONMENT, SLURM_LOCAL=os.path.join(self.folder, "slurm"))
        started = subprocess.run([SLURM_LOCAL, "start"], env=self.environment, text=True,
                                 capture_output=True, timeout=60)
        if started.returncode == 3:
            print(f"SKIPPED: {started.stderr.strip()}")
            shutil.rmtree(self.folder)
            sys.exit(SKIPPED)
        if started.returncode != 0:
            self.__exit__()
            raise AssertionError(started.stderr)
        self.write_config()
        return self

    def __exit__(self, *_):
        subprocess.run([SLURM_LOCAL, "stop"], env=self.environment, timeout=60, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_config(self):
        source = os.path.join(HERE, "..", "run")
        shutil.copy(os.path.join(source, "text.txt"), self.folder)
        with open(os.path.join(source, "job.yaml")) as file:
            text = file.read().replace("data_parallel_size: 1", "data_parallel_size: 2")
        text = text.replace("max_steps: 100000", "max_steps: 3\ntensor_parallel_size: 2\n"
                            "context_parallel_size: 2")
        with open(os.path.join(self.folder, "job.yaml"), "w") as file:
            file.write(text)

    def run(self, *command, timeout=120):
        return subprocess.run([SLURM_LOCAL, "run", "env", "-C", self.folder, *command],
                              env=self.environment, capture_output=True, text=True,
                              timeout=timeout)

    def script(self, *flags):
        made = subprocess.run([CPPLAN, "sbatch", "job.yaml", "--output", "job.sh", *flags],
                              cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=30)
        assert made.returncode == 0, made.stderr
        return "job.sh"

    def wait_for_log(self, pattern, limit=60):
        end = time.monotonic() + limit
        while not re.search(pattern, self.log(), re.M):
            assert time.monotonic() < end, self.log()
            time.sleep(0.2)

    def hurry(self, job):
        """SLURM leaves a job that was put back alone for two minutes."""
        end = time.monotonic() + 30
        while "PENDING" not in self.run("squeue", "-h", "-j", job, "-o", "%T").stdout:
            assert time.monotonic() < end, self.log()
            time.sleep(0.2)
        done = self.run("scontrol", "update", f"JobId={job}", "StartTime=now")
        assert done.returncode == 0, done

    def remove_logs(self):
        for name in os.listdir(self.folder):
            if name.endswith(".log"):
                os.remove(os.path.join(self.folder, name))

    def log(self):
        text = ""
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".log"):
                with open(os.path.join(self.folder, name)) as file:
                    text += file.read()
        return text


def losses(text):
    return re.findall(r"^\s*\d+\s.*?(\d\.\d+)", text, re.M)


def submit(cluster, script):
    cluster.remove_logs()
    done = cluster.run("sbatch", "--wait", script)
    return done, cluster.log()


def died_in_mpi_init(log):
    """On a loaded machine ranks under srun now and then (about 1 job in 25) jump to address 0 while
    Open MPI 4.1.4 sets itself up with the PMIx of SLURM 22.05, whatever the commit. Why is not known."""
    return re.search(r"SIGSEGV|[Ss]egmentation fault|signal 11", log) and not losses(log)


def batch(cluster):
    """The generated script trains TP2 x CP2 x DP2 on two nodes."""
    script = cluster.script("--nodes", "2", "--gpus-per-node", "4")
    fewer = cluster.run("sbatch", "--wait", "--ntasks-per-node=2", script)
    assert fewer.returncode == 1 and "has 4" in cluster.log(), cluster.log()
    done, log = submit(cluster, script)
    if done.returncode != 0 and died_in_mpi_init(log):
        print(f"NOTE: a rank died in MPI_Init, and the job is submitted once more\n{log}")
        done, log = submit(cluster, script)
    assert done.returncode == 0, done.stdout + done.stderr + log
    here = subprocess.run([CPPLAN, "run", "job.yaml", "-n", "8", "--transport", "threads"],
                          cwd=cluster.folder, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=120)
    assert here.returncode == 0, here.stdout + here.stderr
    assert len(losses(here.stdout)) >= 3, here.stdout
    assert losses(here.stdout) == losses(log), here.stdout + log


def step(cluster):
    """srun starts the ranks; another number of tasks is refused with both numbers."""
    right = cluster.run("srun", "--mpi=pmix", "-N3", "-n8", CPPLAN, "run", "job.yaml")
    assert right.returncode == 0 and len(losses(right.stdout)) >= 3, right.stdout + right.stderr
    wrong = cluster.run("srun", "--mpi=pmix", "-N2", "-n4", CPPLAN, "run", "job.yaml")
    said = wrong.stdout + wrong.stderr
    assert wrong.returncode != 0, said
    assert "2*2*1*2 = 8 ranks, but the world has 4" in said, said
    assert said.count("error[") == 1, said
    assert not losses(wrong.stdout), said


class Supervised:
    """`cpplan run` as the supervisor, in an allocation of a user at the controller."""

    def __init__(self, cluster, *flags, steps="100000", size=("-N3", "-n8")):
        command = [SLURM_LOCAL, "run", "env", "-C", cluster.folder, "salloc", "-Q", *size, CPPLAN,
                   "run", "job.yaml", "--set", f"max_steps={steps}", *flags]
        self.cluster = cluster
        self.process = subprocess.Popen(command, env=cluster.environment, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for_step(self, step):
        for line in self.process.stdout:
            if line.split()[:1] == [str(step)]:
                break
        else:
            raise AssertionError(self.process.stderr.read())
        self.ranks = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ") as file:
                    variables = file.read()
                with open(f"/proc/{pid}/comm") as file:
                    name = file.read().strip()
            except OSError:
                continue
            rank = re.search(r"(?:^|\0)PMIX_RANK=(\d+)", variables)
            if rank and name == "cpplan" and self.cluster.folder in variables:
                self.ranks[int(rank.group(1))] = int(pid)
        assert sorted(self.ranks) == list(range(8)), self.ranks

    def end(self, limit):
        begin = time.monotonic()
        _, errors = self.process.communicate(timeout=limit + 60)
        assert time.monotonic() - begin < limit, errors
        end = time.monotonic() + 5
        while any(os.path.exists(f"/proc/{pid}") for pid in self.ranks.values()):
            assert time.monotonic() < end, f"left behind: {self.ranks}"
            time.sleep(0.1)
        return errors


def supervised(cluster):
    """In an allocation `cpplan run` starts the tasks itself; too few are refused with both numbers."""
    done = cluster.run("salloc", "-Q", "-N3", "-n8", CPPLAN, "run", "job.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    plain = cluster.run("srun", "--mpi=pmix", "-N3", "-n8", CPPLAN, "run", "job.yaml")
    assert losses(done.stdout) == losses(plain.stdout) and len(losses(done.stdout)) >= 3, done
    wrong = cluster.run("salloc", "-Q", "-N2", "-n4", CPPLAN, "run", "job.yaml")
    assert wrong.returncode == 1, wrong
    assert "2*2*1*2 = 8 ranks, but the world has 4" in wrong.stdout, wrong
    few = cluster.run("salloc", "-Q", "-N2", "-n4", CPPLAN, "run", "job.yaml", "-n", "8")
    assert few.returncode == 3, few
    assert "the allocation has 4 tasks, and the plan 8 ranks" in few.stderr, few


def killed(cluster):
    """A rank that dies on any node ends the job with one message; so do a stop and Ctrl-C."""
    for victim, node in ((5, "node2"), (0, "node1"), (7, "node3")):
        job = Supervised(cluster)
        job.wait_for_step(3)
        os.kill(job.ranks[victim], signal.SIGKILL)
        errors = job.end(10)
        assert job.process.returncode == 4, (job.process.returncode, errors)
        assert len(re.findall("rank-failed", errors)) == 1, errors
        assert re.search(rf"rank {victim} \({node}, pid {job.ranks[victim]}\) was killed by "
                         r"signal 9 \(SIGKILL\) in step \d+", errors), errors
    job = Supervised(cluster, "--timeout", "5")
    job.wait_for_step(3)
    os.kill(job.ranks[6], signal.SIGSTOP)
    errors = job.end(20)
    assert job.process.returncode == 4, (job.process.returncode, errors)
    assert re.search(r"rank 6 \(node2, pid \d+\) has not been heard from", errors), errors


def requeued(cluster):
    """Asked to make room, a batch job writes a checkpoint, goes back into the queue, and trains on:
    the losses are those of a job that nobody disturbed."""
    steps = ["--set", "max_steps=150", "--set", "save_steps=100000"]
    script = cluster.script("--nodes", "2", "--gpus-per-node", "4", *steps, "--set",
                            f"output_dir={cluster.folder}/out")
    job = cluster.run("sbatch", "--parsable", script).stdout.strip()
    cluster.wait_for_log(r"^ *3 ")
    asked = cluster.run("scancel", "--batch", "--signal=USR1", job)
    assert asked.returncode == 0, asked
    cluster.wait_for_log("stopped on request: all 8 ranks wrote a checkpoint")
    cluster.hurry(job)
    cluster.wait_for_log(r"^ *150 ", limit=150)
    log = cluster.log()
    assert log.count("stopped on request") == 1, log
    seen = [int(number) for number in re.findall(r"^ *(\d+) +\d\.\d", log, re.M)]
    assert seen == list(range(1, 151)), log
    here = subprocess.run([CPPLAN, "run", "job.yaml", "-n", "8", "--transport", "threads", *steps],
                          cwd=cluster.folder, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=120)
    assert here.returncode == 0, here.stdout + here.stderr
    assert losses(here.stdout)[:150] == losses(log)[:150], log


def refused(cluster):
    """A bad config ends the job at once, and no rank starts."""
    script = cluster.script("--nodes", "2", "--gpus-per-node", "4")
    path = os.path.join(cluster.folder, "job.yaml")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("sequence_len: 64", "sequence_len: many"))
    done = cluster.run("sbatch", "--wait", script)
    log = cluster.log()
    assert done.returncode == 1, f"{done.returncode}\n{log}"
    assert "sequence_len" in log and "srun" not in log, log


with Cluster() as local:
    cases = (batch, step, refused, supervised, killed, requeued)
    {case.__name__: case for case in cases}[CASE](local)
