"""`cpplan run --backend cuda` on a device that is emulated: python3 cuda.py CPPLAN FOLDER_OF_PLUGIN.

The program, its plug-in and what connects the ranks are the real ones; of the plug-in only the runtime
and the matrix products are the emulator's. Losses are those of the CPU, and bytes and memory as planned.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CPPLAN, PLUGINS = sys.argv[1:]
JOB = pathlib.Path(__file__).with_name("job.yaml")
BOUND = {"fp32": 1e-5, "bf16": 2e-2}  # of losses, relative


def run(backend, ranks, dtype, folder, *flags):
    record = pathlib.Path(folder, "record.json")
    command = [CPPLAN, "run", JOB, "--backend", backend, "-n", str(ranks), "--steps", "2", "--check",
               "--set", f"cpplan.run.dtype={dtype}", "--set", f"context_parallel_size={ranks}",
               "--record", record, *flags]
    done = subprocess.run(command, text=True, capture_output=True, timeout=100, check=False,
                          env=os.environ | {"CPPLAN_PLUGINS": PLUGINS})
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return json.loads(record.read_text())


def losses(record):
    return [step["loss"] for step in record["steps"]]


def check_equal(ranks, dtype, *flags):
    with tempfile.TemporaryDirectory() as folder:
        cpu = run("cpu", ranks, dtype, folder, *flags)
        cuda = run("cuda", ranks, dtype, folder, *flags)
    assert (cpu["backend"], cuda["backend"]) == ("cpu", "cuda")
    worst = max(abs(a - b) / abs(a) for a, b in zip(losses(cpu), losses(cuda), strict=True))
    print(f"{ranks} ranks, {dtype}, {cuda['transport']}: losses differ by {worst:.2g}")
    assert worst <= BOUND[dtype], (losses(cpu), losses(cuda))
    assert worst > 0, "the CPU's own bits: was there a device?"


check_equal(1, "fp32", "--transport", "threads")
check_equal(2, "bf16", "--transport", "mpi")
