#include "report/plan_text.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "report/table.hpp"
#include "sample_plan.hpp"

namespace cpplan::report {
namespace {

TEST_CASE("columns line up and lines end without spaces") {
  Table table({{"name"}, {"n", Align::right}, {"note"}});
  table.add({"a", "1", ""});
  table.add({"long name", "1,000", "x"});
  CHECK(table.text() ==
        "  name           n  note\n"
        "  a              1\n"
        "  long name  1,000  x\n");
}

TEST_CASE("a table without titles has no line of them") {
  Table table({{""}, {""}});
  table.add({"a", "b"});
  CHECK(table.text() == "  a  b\n");
}

TEST_CASE("the text of a plan") {
  CHECK(plan_text(sample_plan(), diag::Color::never) == R"(plan of train.yaml (axolotl)

world
  world size            8  from --world-size
  effective world size  2  8 / (tp 2 * cp 2 * pp 1): ranks that read different data

batch
  batch size        16  micro 2 * accumulation 4 * dp 2
  tokens per step  128  16 sequences of 8

steps
  total steps        9,751  ceil(52002 * 3 / 16)
  rows to train on  52,002
  warm-up steps        100

learning rate (cosine)
               step  value
  first step      1  1e-06
  last step   9,751      0

ranks (tp-cp-ep-dp-pp, fastest first)
  rank  tp  cp  pp  dp
     0   0   0   0   0
     1   1   0   0   0
     2   0   1   0   0
     3   1   1   0   0
     4   0   0   0   1
     5   1   0   0   1
     6   0   1   0   1
     7   1   1   0   1
  weights are sharded  2  ways: tp 2 * pp 1
  and replicated       4  times: dp 2 * cp 2

sequence: chunks of each context-parallel rank
  cp rank                   framework (contiguous)  engine (head_tail)
  0                         0                       0 3
  1                         1                       1 2
  tokens of a chunk         4                       2
  padded length             8                       8
  imbalance of causal work  1.500                   1.000

dimensions (bytes that one rank sends in one step)
  tp  2  splits      heads
         copies      norms
         collective  all_gather
         bytes sent  4,096
  dp  2  splits      batch
         copies      weights
         collective  all_reduce

memory of the engine
                                   allocated  at the peak
  parameters (fp32)                  1.0 MiB      1.0 MiB
  gradients                          1.0 MiB      1.0 MiB
  optimizer                          2.0 MiB      2.0 MiB
  activations                        3.0 MiB      2.0 MiB
  buffers                              512 B        256 B
  total, of rank 1 (the heaviest)    7.0 MiB      6.0 MiB
  the peak is in the backward of layer 3, micro-batch 0

traffic of the engine (rank 0, which sends most, one step)
  group  collective  bytes  by formula  messages
  tp     all_gather  4,096       4,096        12

launch
  mpirun      mpirun -np 8 cpplan run train.yaml
  srun        srun --mpi=pmix --nodes=1 --ntasks-per-node=8 cpplan run train.yaml
  torchrun    torchrun --standalone --nproc-per-node 8 -m axolotl.cli.train train.yaml
  accelerate  accelerate launch --num_processes 8 -m axolotl.cli.train train.yaml
)");
}

TEST_CASE("large worlds are told by strides") {
  const auto text =
      plan_text(sample_plan({.tp = 8, .cp = 16, .pp = 16, .dp = 8}), diag::Color::never);
  CHECK(text.find("  dimension  size  groups  stride\n"
                  "  tp            8   2,048       1\n"
                  "  cp           16   1,024       8\n"
                  "  pp           16   1,024   1,024\n"
                  "  dp            8   2,048     128\n") != std::string::npos);
}

TEST_CASE("unknown steps name the flag that makes them known") {
  plan::Plan plan = sample_plan();
  plan.steps.total_num_steps.reset();
  CHECK(plan_text(plan, diag::Color::never).find("--train-rows N") != std::string::npos);
}

TEST_CASE("colour changes nothing but headings") {
  const std::string plain = plan_text(sample_plan(), diag::Color::never);
  std::string coloured = plan_text(sample_plan(), diag::Color::always);
  CHECK(coloured.find("\x1b[1mworld\x1b[0m\n") != std::string::npos);
  for (const std::string code : {"\x1b[1m", "\x1b[0m"})
    for (auto at = coloured.find(code); at != std::string::npos; at = coloured.find(code))
      coloured.erase(at, code.size());
  CHECK(coloured == plain);
}

}  // namespace
}  // namespace cpplan::report
