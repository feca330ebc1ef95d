#pragma once
// Samples by number: the order of rows, packing and epochs, as a function of seed and place alone,
// so that every layout and every rank reads the same samples.
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "data/sample.hpp"

namespace cpplan::data {

/// A row is one document of byte tokens.
using Rows = std::vector<std::vector<std::uint8_t>>;

/// What is read of files: text (.txt, .md, source code, ...; a folder stands for the text files
/// below it in sorted order) becomes one document a file, JSONL one a line (its "text" member, or
/// all strings of the record joined by a newline). Documents longer than `sequence_len` are cut
/// into rows of that length; a row of fewer than two tokens is dropped. Errors: not readable, no
/// text in it.
Result<Rows> read_rows(const std::vector<std::string>& paths, Index sequence_len);

/// Rows of pseudo-text: a Markov chain over 256 bytes, a function of `seed`. For --synthetic.
Rows synthetic_rows(std::uint64_t seed, Index rows, Index sequence_len);

struct SampleOptions {
  std::uint64_t seed = 0;
  Index sequence_len = 0;
  bool packing = false;  // first-fit in the epoch's order, bins of sequence_len tokens
  bool shuffle = true;   // rows sorted by (Philox("order", row, epoch), row)
};

class SampleSource {
 public:
  /// Contract: at least one row, none longer than sequence_len.
  SampleSource(Rows rows, SampleOptions options);

  /// Sample number n, counted on over the epochs. Thread-safe.
  Sample at(Index n) const;
  /// Lengths of its documents.
  std::vector<Index> lengths(Index n) const;
  /// Samples of epoch 0: rows, or bins under packing.
  Index samples_per_epoch() const;
  Index row_count() const;
  Index sequence_len() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Entropy in nats a token: of single tokens, and of a token given the one before it.
struct TextEntropy {
  double unigram = 0, bigram = 0;
};
TextEntropy entropy(const Rows&);

}  // namespace cpplan::data
