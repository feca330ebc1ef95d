#include "bench/op_shapes.hpp"

#include <algorithm>
#include <memory>

#include "kernels/rope.hpp"

namespace cpplan::bench {
namespace {
using namespace kernels;

/// Tensors of a case, one copy after another.
class Operands {
 public:
  Operands(Ops& ops, Arena& arena) : ops_(ops), arena_(arena) {}

  Tensor values(Index rows, Index cols) {
    const Tensor t = arena_.make(DType::f32, rows, cols);
    ops_(Fill{t, 0.5});
    return t;
  }
  Tensor indices(Index rows, Index cols, Index below) {
    const Tensor t = arena_.make(DType::i32, rows, cols);
    std::vector<std::int32_t> host(static_cast<std::size_t>(rows * cols));
    for (std::size_t i = 0; i < host.size(); ++i)
      host[i] = static_cast<std::int32_t>((i * 7919) % static_cast<std::size_t>(below));
    ops_(Upload{t, host.data()});
    return t;
  }
  Tensor doubles(Index cols) {
    const Tensor t = arena_.make(DType::f64, 1, cols);
    ops_(Fill{t, 0.0});
    return t;
  }

 private:
  Ops& ops_;
  Arena& arena_;
};

/// `make(operands)` gives one copy of the op.
template <class Make>
CaseMaker maker_of(Bytes operands, const Make& make) {
  using Op = decltype(make(std::declval<Operands&>()));
  const auto make_case = [make](Ops& ops, Arena& arena, Index copies) {
    Operands from(ops, arena);
    auto all = std::make_shared<std::vector<Op>>();
    for (Index i = 0; i < copies; ++i) all->push_back(make(from));
    return OpCase{std::string(Op::name), all->front().cost(), copies,
                  [all, &ops](Index copy) { ops((*all)[static_cast<std::size_t>(copy)]); }};
  };
  return {operands, make_case};
}

Bytes floats(Index count) {
  return {4 * count};
}

void add_products(std::vector<CaseMaker>& cases) {
  for (const Index k : {16, 64, 256, 1024})
    for (const Index n : {32, 128, 512})
      cases.push_back(maker_of(floats(2 * n * k + n * n), [=](Operands& o) {
        return Gemm{
            .a = o.values(n, k), .b = o.values(n, k), .c = o.values(n, n), .transpose_b = true};
      }));
}

/// Of a causal sequence; blocks live as long as the program.
std::span<const Block> causal_block(Index tokens) {
  static std::vector<std::unique_ptr<Block>> blocks;
  const Run all{.count = tokens};
  blocks.push_back(std::make_unique<Block>(Block{all, all, Coverage::partial, 0}));
  return {blocks.back().get(), 1};
}

constexpr Index measured_heads = 4;

Attention attention_of(Operands& o, Index n, Index d) {
  const Index width = measured_heads * d;
  return {.q = o.values(n, width),
          .k = o.values(n, width),
          .v = o.values(n, width),
          .out = o.values(n, width),
          .lse = o.values(n, measured_heads),
          .blocks = causal_block(n),
          .head_dim = d};
}

AttentionBackward attention_backward_of(Operands& o, Index n, Index d) {
  const Attention f = attention_of(o, n, d);
  const Index width = measured_heads * d;
  return {.q = f.q,
          .k = f.k,
          .v = f.v,
          .out = f.out,
          .dout = o.values(n, width),
          .lse = f.lse,
          .dq = o.values(n, width),
          .dk = o.values(n, width),
          .dv = o.values(n, width),
          .blocks = f.blocks,
          .head_dim = d};
}

void add_attention(std::vector<CaseMaker>& cases) {
  for (const Index d : {16, 64, 128})
    for (const Index n : {32, 128, 512}) {
      const Index width = measured_heads * d;
      cases.push_back(
          maker_of(floats(4 * n * width), [=](Operands& o) { return attention_of(o, n, d); }));
      cases.push_back(maker_of(floats(8 * n * width),
                               [=](Operands& o) { return attention_backward_of(o, n, d); }));
    }
}

/// Rows and features of an activation.
struct Rows {
  Index n, h;
  Index size() const { return n * h; }
};
constexpr Rows row_shapes[] = {{32, 64}, {128, 256}, {512, 1024}};

void add_layer_ops(std::vector<CaseMaker>& cases, Rows r) {
  const auto [n, h] = r;
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return RmsNorm{o.values(n, h), o.values(1, h), o.values(n, h), o.values(n, 1)};
  }));
  cases.push_back(maker_of(floats(3 * r.size()), [=](Operands& o) {
    return RmsNormBackward{o.values(n, h), o.values(1, h), o.values(n, 1),
                           o.values(n, h), o.values(n, h), o.values(1, h)};
  }));
  static const auto frequencies = rope_frequencies(32, 10000);
  cases.push_back(maker_of(floats(r.size()), [=](Operands& o) {
    return Rope{.x = o.values(n, h), .positions = o.indices(n, 1, n), .frequencies = frequencies};
  }));
  cases.push_back(maker_of(floats(3 * r.size()), [=](Operands& o) {
    return SwiGlu{o.values(n, 2 * h), o.values(n, h)};
  }));
  cases.push_back(maker_of(floats(5 * r.size()), [=](Operands& o) {
    return SwiGluBackward{o.values(n, 2 * h), o.values(n, h), o.values(n, 2 * h)};
  }));
  cases.push_back(maker_of(floats(3 * r.size()), [=](Operands& o) {
    return DropoutAdd{o.values(n, h), o.values(n, h), o.values(n, h), o.indices(n, 2, n), {}};
  }));
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return DropoutBackward{o.values(n, h), o.values(n, h), o.indices(n, 2, n), {}};
  }));
}

void add_vocabulary_ops(std::vector<CaseMaker>& cases, Rows r) {
  const auto [n, v] = r;
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return Embed{o.indices(n, 1, 256), o.values(256, v), o.values(n, v), 0};
  }));
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return EmbedBackward{o.indices(n, 1, 256), o.values(n, v), o.values(256, v), 0};
  }));
  cases.push_back(maker_of(floats(r.size()), [=](Operands& o) {
    return RowMax{o.values(n, v), o.values(n, 1), v};
  }));
  cases.push_back(maker_of(floats(r.size()), [=](Operands& o) {
    return SumExp{o.values(n, v), o.values(n, 1), o.indices(n, 1, v), o.values(n, 2), 0, v};
  }));
  cases.push_back(maker_of(floats(r.size()), [=](Operands& o) {
    return CrossEntropyBackward{
        o.values(n, v), o.values(n, 1), o.values(n, 2), o.indices(n, 1, v), 0, v};
  }));
  cases.push_back(maker_of(floats(4 * n), [=](Operands& o) {
    return LossSum{o.values(n, 1), o.values(n, 2), o.indices(n, 1, v), o.doubles(2)};
  }));
}

void add_optimizer_ops(std::vector<CaseMaker>& cases, Rows r) {
  const auto [n, h] = r;
  cases.push_back(maker_of(floats(4 * r.size()), [=](Operands& o) {
    return AdamW{
        .p = o.values(n, h), .g = o.values(n, h), .m = o.values(n, h), .v = o.values(n, h)};
  }));
  cases.push_back(maker_of(floats(r.size()), [=](Operands& o) {
    return SquaredNorm{o.values(n, h), o.doubles(1)};
  }));
}

void add_moves(std::vector<CaseMaker>& cases, Rows r) {
  const auto [n, h] = r;
  cases.push_back(maker_of(floats(r.size()), [=](Operands& o) {
    return Fill{o.values(n, h), 0.0};
  }));
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return Copy{o.values(n, h), o.values(n, h)};
  }));
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return Add{o.values(n, h), o.values(n, h)};
  }));
  const auto host = std::make_shared<std::vector<float>>(static_cast<std::size_t>(r.size()));
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return Upload{o.values(n, h), host->data()};
  }));
  cases.push_back(maker_of(floats(2 * r.size()), [=](Operands& o) {
    return Download{o.values(n, h), host->data()};
  }));
}

}  // namespace

std::vector<CaseMaker> op_cases() {
  std::vector<CaseMaker> cases;
  add_products(cases);
  add_attention(cases);
  for (const Rows rows : row_shapes) {
    add_layer_ops(cases, rows);
    add_vocabulary_ops(cases, rows);
    add_optimizer_ops(cases, rows);
    add_moves(cases, rows);
  }
  return cases;
}

}  // namespace cpplan::bench
