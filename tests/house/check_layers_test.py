"""scripts/check-layers finds each kind of violation, at its line, in a tree made to hold one."""
import unittest

from house import ROOT, complaints

CMAKE = (ROOT / "CMakeLists.txt").read_text()
PAGE = (ROOT / "ARCHITECTURE.md").read_text()


def check(files, cmake=CMAKE):
    return complaints("check-layers", {"ARCHITECTURE.md": PAGE, "CMakeLists.txt": cmake, **files})


class CheckLayers(unittest.TestCase):
    def assert_finds(self, path, text, *expected):
        status, lines = check({path: text})
        self.assertEqual((status, len(lines)), (1, 1), lines)
        for part in (path, *expected):
            self.assertIn(part, lines[0])

    def test_allowed_includes_pass(self):
        status, lines = check({
            "lib/layout/map.hpp": '#include <vector>\n#include "kernels/mask.hpp"\n',
            "lib/comm/mpi.cpp": '#include <mpi.h>\n#include "layout/map.hpp"\n',
            "lib/base/file.cpp": "#include <fmt/format.h>\n#include <sys/stat.h>\n",
            "kernels/cpu/gemm.cpp": '#include <oneapi/dnnl/dnnl.h>\n#include "kernels/ops.hpp"\n',
            "app/run.cpp": '#include "cli.hpp"\n#include "train/worker.hpp"\n',
        })
        self.assertEqual((status, lines), (0, []))

    def test_folder_above(self):
        self.assert_finds("lib/layout/map.cpp", '#include <vector>\n\n#include "plan/plan.hpp"\n',
                          ":3:", '"layout" may not include "plan/plan.hpp"')

    def test_only_the_named_header_of_a_folder(self):
        self.assert_finds("lib/layout/map.cpp", '#include "kernels/ops.hpp"\n', ":1:")

    def test_include_in_a_nested_folder(self):
        self.assert_finds("lib/base/text/case.cpp", '#include "diag/diagnostic.hpp"\n', '"base"')

    def test_lib_does_not_include_app(self):
        self.assert_finds("lib/train/worker.cpp", '#include "app/exit_code.hpp"\n', '"train"')

    def test_kernels_stand_on_base_alone(self):
        self.assert_finds("kernels/cuda/norm.cu", '# include "comm/work.hpp"\n', '"kernels"')

    def test_folder_that_the_table_lacks(self):
        self.assert_finds("lib/extra/a.cpp", '#include "base/units.hpp"\n', '"extra" is not in')

    def test_third_party_library_outside_its_file(self):
        for header, owner in [("mpi.h", "lib/comm/mpi.cpp"), ("CLI/CLI.hpp", "app/cli.cpp"),
                              ("yaml-cpp/yaml.h", "lib/config/document.cpp"),
                              ("nlohmann/json.hpp", "lib/base/json.cpp"),
                              ("spdlog/spdlog.h", "lib/base/log.cpp"),
                              ("oneapi/dnnl/dnnl.hpp", "kernels/cpu/gemm.cpp")]:
            with self.subTest(header):
                self.assert_finds("lib/train/a.cpp", f"#include <{header}>\n", owner, "alone")

    def test_fmt_in_a_header(self):
        self.assert_finds("lib/base/text.hpp", "#include <fmt/format.h>\n", "<fmt/format.h>")

    def test_unknown_library(self):
        self.assert_finds("lib/base/text.cpp", "#include <boost/any.hpp>\n", "of no library")

    def test_links_that_differ_from_the_table(self):
        status, lines = check({}, CMAKE.replace("DEPENDS base diag kernels", "DEPENDS base kernels"))
        self.assertEqual((status, len(lines)), (1, 1), lines)
        self.assertIn('"layout" and ARCHITECTURE.md differ in "diag"', lines[0])


unittest.main()
