"""scripts/check-lengths finds a long file and a long function, and neither in short ones."""
import unittest

from house import complaints


def function(lines, head="int f(int x) {"):
    return "\n".join([head, *["  ++x;"] * (lines - 2), "}", ""])


class CheckLengths(unittest.TestCase):
    def test_lengths_at_the_limit_pass(self):
        files = {"lib/a/a.cpp": "namespace a {\n" + function(60) + "// x\n" * 300 + "}\n"}
        self.assertEqual(complaints("check-lengths", files), (0, []))

    def test_long_file(self):
        status, lines = complaints("check-lengths", {"app/a.cpp": "// x\n" * 401})
        self.assertEqual((status, len(lines)), (1, 1), lines)
        self.assertIn("app/a.cpp: 401 lines", lines[0])

    def test_long_function(self):
        for head in ["int f(int x) {", "std::vector<int> Type::f(int x,\n     int y) const {"]:
            text = "#pragma once\n" + function(61, head)
            status, lines = complaints("check-lengths", {"kernels/cpu/a.cpp": text})
            self.assertEqual((status, len(lines)), (1, 1), lines)
            self.assertIn("kernels/cpu/a.cpp:2: a function of", lines[0])

    def test_types_and_tables_are_no_functions(self):
        for head in ["struct A {", "constexpr Row rows[] = {", "const std::map<int, int> m = {"]:
            self.assertEqual(complaints("check-lengths", {"lib/a/a.hpp": function(90, head)}),
                             (0, []))

    def test_rows_of_a_table_do_not_count(self):
        table = "// clang-format off\nint rows[] = {\n" + "  1,\n" * 500 + "};\n// clang-format on\n"
        self.assertEqual(complaints("check-lengths", {"lib/a/a.cpp": table}), (0, []))
        status, lines = complaints("check-lengths", {"lib/a/a.cpp": table + "// x\n" * 400})
        self.assertEqual((status, len(lines)), (1, 1), lines)


unittest.main()
