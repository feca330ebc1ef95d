"""scripts/check-docs runs the marked blocks, compares what must be equal and masks what may vary."""
import importlib.machinery
import importlib.util
import unittest

from house import ROOT

loader = importlib.machinery.SourceFileLoader("check_docs", str(ROOT / "scripts/check-docs"))
check_docs = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_docs", loader))
loader.exec_module(check_docs)


def verdicts(body, numbers=None):
    return [good for _, _, _, good in check_docs.check_block(body, numbers)]


class CheckDocs(unittest.TestCase):
    def test_equal_output(self):
        self.assertEqual(verdicts("$ echo one\none\n$ printf 'a\\nb\\n'\na\nb\n"), [True, True])

    def test_stale_output(self):
        self.assertEqual(verdicts("$ echo two\none\n"), [False])
        self.assertEqual(verdicts("$ true\nsomething\n"), [False])
        self.assertEqual(verdicts("$ echo something\n"), [False])

    def test_status_of_the_command_before(self):
        self.assertEqual(verdicts("$ false\n$ echo $?\n1\n"), [True, True])

    def test_numbers_are_compared_by_place_where_the_page_says_so(self):
        body = "$ echo 'loss 2.71  lr 1.0e-03'\nloss 3.14 lr 9.0e-04\n"
        self.assertEqual(verdicts(body), [False])
        self.assertEqual(verdicts(body, " numbers"), [True])
        self.assertEqual(verdicts("$ echo 'loss 2.71'\nlosses 2.71\n", " numbers"), [False])

    def test_dots_stand_for_what_is_left_out(self):
        self.assertEqual(verdicts("$ seq 9\n1\n...\n9\n"), [True])
        self.assertEqual(verdicts("$ seq 9\n1\n...\n8\n"), [False])
        self.assertEqual(verdicts("$ echo a b c\na ... c\n"), [True])

    def test_only_marked_blocks_run(self):
        page = "```console\n$ exit 1\n```\n```console run\n$ true\n```\n"
        self.assertEqual(len(check_docs.BLOCK.findall(page)), 1)


unittest.main()
