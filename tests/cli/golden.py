#!/usr/bin/env python3
"""golden.py [--update] CPPLAN CASE...: runs the command of each case and compares what it prints.

A case is a folder: `cmd` is one line for sh, run in that folder, in which `cpplan` is the program;
`out`, `err` and `exit` hold standard output, standard error (both empty where there is no file) and
the exit code (0 where there is none). --update writes these three files instead of comparing.
"""
import difflib
import os
import pathlib
import subprocess
import sys

# What would leak into a plan or into colours.
LEAKS = ("WORLD_SIZE", "SLURM_", "OMPI_", "PMIX_", "PMI_", "NO_COLOR", "CLICOLOR", "CPPLAN_")


def environment(program):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(LEAKS)}
    return kept | {"PATH": f"{program.parent}:{kept['PATH']}", "LC_ALL": "C"}


def run(program, case):
    command = (case / "cmd").read_text()
    done = subprocess.run(["sh", "-c", command], cwd=case, env=environment(program),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return {"out": done.stdout, "err": done.stderr, "exit": f"{done.returncode}\n"}


def expected(case):
    absent = {"out": "", "err": "", "exit": "0\n"}
    return {name: (case / name).read_text() if (case / name).exists() else text
            for name, text in absent.items()}


def update(case, got):
    for name, text in got.items():
        file = case / name
        if text in ("", "0\n"):
            file.unlink(missing_ok=True)
        else:
            file.write_text(text)


def differences(case, got):
    for name, want in expected(case).items():
        yield from difflib.unified_diff(want.splitlines(True), got[name].splitlines(True),
                                        f"{case.name}/{name}, expected", f"{case.name}/{name}")


def main(arguments):
    updating = arguments[:1] == ["--update"]
    program, *cases = [pathlib.Path(word).resolve() for word in arguments[updating:]]
    if not cases or not os.access(program, os.X_OK):
        sys.exit(__doc__)
    failed = 0
    for case in cases:
        got = run(program, case)
        if updating:
            update(case, got)
            continue
        lines = list(differences(case, got))
        sys.stdout.writelines(lines)
        failed += bool(lines)
    print(f"{len(cases)} cases, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
