#!/usr/bin/env python3
"""worked_cases.py [--show] CPPLAN [CASE...]: the program against worked cases with the right answers.

The folder that CPPLAN_CASES names holds pairs NNN_name.yaml and NNN_name.expect; its README says
what the keys mean. Each case is planned and validated as a user would: the exit code and the
severities must be those of `status`, and every bare key must be a value of `plan --format json`,
by a name that is unique there. --show prints the findings of each case beside what they should say.
CASE: some of the cases alone, by the beginnings of their names.
"""
import ast
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from golden import environment

SKIPPED = 77  # ctest reports this exit code as a skip
PROSE = {"case", "status", "diagnosis", "arith", "note", "source", "confidence", "verified",
         "upstream", "upstream_value", "wrong_seen", "wrong_before", "mesh"}
FLAGS = {"given.world_size": "--world-size", "given.rows": "--rows",
         "given.rows_before_split": "--rows", "given.train_rows": "--train-rows",
         "given.total_num_tokens": "--total-tokens", "given.eval_tokens": "--eval-tokens",
         "given.command": "--launch-command", "given.gpus_per_node": "--gpus-per-node"}
FILES = {"given.row_lengths": "--lengths", "given.doc_lengths": "--documents"}
# The README's numbering: what a failing case is about.
AREAS = [(34, "batch and steps"), (53, "rows and split"), (57, "preference training"),
         (82, "packing"), (109, "parallel degrees"), (113, "sequence layout"), (116, "memory"),
         (137, "megatron"), (195, "text of the file"), (999, "launch")]


def value_of(text):
    """A flat value as YAML means it; `[100]*90 + [513]*10` is a list, too."""
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"[\[\]\d\s,*+]+", text) and "*" in text:
        terms = re.findall(r"(\[[^\]]*\])(?:\*(\d+))?", text)
        return [n for numbers, times in terms for n in ast.literal_eval(numbers) * int(times or 1)]
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def read_expectations(file):
    pairs = (line.split(": ", 1) for line in file.read_text().splitlines() if ": " in line)
    return {key: value_of(value.strip()) for key, value in pairs}


def arguments(expected, scratch):
    """What the tool is told besides the file, as flags."""
    words = []
    for key, value in expected.items():
        if key in FLAGS:
            words += [FLAGS[key], str(value)]
        elif key in FILES:
            file = scratch / key
            file.write_text("".join(f"{n}\n" for n in value))
            words += [FILES[key], str(file)]
        elif key == "given.uid":
            words += ["--set", f"cpplan.launch.uid={value}"]
        elif key.startswith("given.") and key != "given.env":
            raise ValueError(f"{key}: no flag is known for it")
    return words


def variables(expected):
    words = (word.rstrip(",") for word in expected.get("given.env", "").split())
    return dict(word.split("=", 1) for word in words if "=" in word)


def run(program, subcommand, config, words, added):
    command = [program, subcommand, config, "--format", "json", *words]
    done = subprocess.run(command, env=environment(program) | added, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, {"stderr": done.stderr.strip()}


def members(node, path=""):
    """(path, value) of all members of objects; elements of lists have no name."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield f"{path}.{name}", value
            yield from members(value, f"{path}.{name}")


def equal(got, wanted):
    if isinstance(wanted, float) and isinstance(got, (int, float)):
        return abs(got - wanted) <= 1e-12 * abs(wanted)
    return got == wanted and isinstance(got, bool) == isinstance(wanted, bool)


def value_failures(document, expected):
    everything = list(members(document))
    for key, wanted in expected.items():
        if key in PROSE or key.startswith("given."):
            continue
        found = [value for path, value in everything if path.endswith("." + key)]
        if len(found) != 1:
            yield f"{key}: {len(found)} values of that name, 1 expected ({wanted})"
        elif not equal(found[0], wanted):
            yield f"{key}: {found[0]}, expected {wanted}"


def verdict(code, document):
    """ok, warn or error, from the exit code and the severities, which must agree."""
    if "diagnostics" not in document:
        return f"exit {code}, no document: {document.get('stderr', '')}"
    severities = {finding["severity"] for finding in document["diagnostics"]}
    if (code == 1) != ("error" in severities) or code not in (0, 1):
        return f"exit {code} with findings of {sorted(severities)}"
    return "error" if "error" in severities else "warn" if "warning" in severities else "ok"


def show(name, expected, document):
    print(f"{name}: {expected['status']}: {expected.get('diagnosis', '')}")
    for finding in document.get("diagnostics", []):
        place = finding["span"] or {"line": "-", "column": "-"}
        print(f"    {place['line']}:{place['column']} {finding['severity']} {finding['id']} "
              f"{finding['message']}")


def failures(program, file, showing):
    expected = read_expectations(file)
    config = file.with_suffix(".yaml")
    with tempfile.TemporaryDirectory() as scratch:
        words, added = arguments(expected, pathlib.Path(scratch)), variables(expected)
        code, document = run(program, "plan", config, words, added)
        checked = run(program, "validate", config, words, added)
    if showing:
        show(file.stem, expected, document)
    for subcommand, got in (("plan", verdict(code, document)), ("validate", verdict(*checked))):
        if got != expected["status"]:
            yield f"{subcommand} says {got}, expected {expected['status']}"
    if "diagnostics" in document:
        yield from value_failures(document, expected)


def area_of(name):
    return next(area for last, area in AREAS if int(name[:3]) <= last)


def main(words):
    showing = words[:1] == ["--show"]
    program, *chosen = words[showing:]
    folder = os.environ.get("CPPLAN_CASES")
    if folder is None:
        print("SKIPPED: worked cases (CPPLAN_CASES is not set)")
        sys.exit(SKIPPED)
    files = [file for file in sorted(pathlib.Path(folder).glob("*.expect"))
             if not chosen or file.stem.startswith(tuple(chosen))]
    failed = collections.Counter()
    for file in files:
        lines = list(failures(pathlib.Path(program).resolve(), file, showing))
        failed[area_of(file.stem)] += bool(lines)
        for line in lines:
            print(f"{file.stem} ({area_of(file.stem)}): {line}")
    for area, count in failed.items():
        if count:
            print(f"{count:5} failed: {area}")
    print(f"{len(files)} cases, {sum(failed.values())} failed")
    sys.exit(1 if sum(failed.values()) or not files else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
