#include <algorithm>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

#include "base/contract.hpp"
#include "data/packing.hpp"
#include "data/row_order.hpp"
#include "data/sample_source.hpp"

namespace cpplan::data {
namespace {

/// Samples first_sample, first_sample + 1, ...: each the rows of one bin.
struct Epoch {
  Index first_sample = 0;
  Bins bins;  // items are numbers of rows

  Index end_sample() const { return first_sample + bins.count(); }
  std::span<const Index> rows_of(Index sample) const {
    const Index bin = sample - first_sample;
    return std::span(bins.items).subspan(bins.first[bin], bins.first[bin + 1] - bins.first[bin]);
  }
};

void append_document(Sample& sample, const std::vector<std::uint8_t>& row) {
  sample.documents.push_back(std::ssize(row));
  sample.tokens.insert(sample.tokens.end(), row.begin(), row.end());
  sample.labels.insert(sample.labels.end(), row.begin() + 1, row.end());
  sample.labels.push_back(-1);
}

}  // namespace

struct SampleSource::State {
  Rows rows;
  SampleOptions options;
  std::mutex mutex;
  std::vector<std::shared_ptr<const Epoch>> epochs;  // as far as anyone has asked

  std::shared_ptr<const Epoch> epoch_of(Index sample);
  std::shared_ptr<const Epoch> make_epoch(Index number, Index first_sample) const;
  Bins bins_in(const std::vector<Index>& order) const;
};

Bins SampleSource::State::bins_in(const std::vector<Index>& order) const {
  if (!options.packing) return one_each(std::ssize(order));
  std::vector<Index> lengths;
  lengths.reserve(order.size());
  for (const Index row : order) lengths.push_back(std::ssize(rows[row]));
  return first_fit(lengths, options.sequence_len);
}

std::shared_ptr<const Epoch> SampleSource::State::make_epoch(Index number,
                                                             Index first_sample) const {
  std::vector<Index> order(rows.size());
  if (options.shuffle)
    order = row_order(options.seed, std::ssize(rows), number);
  else
    std::iota(order.begin(), order.end(), Index{0});
  Bins bins = bins_in(order);
  for (Index& item : bins.items) item = order[item];
  return std::make_shared<const Epoch>(Epoch{first_sample, std::move(bins)});
}

std::shared_ptr<const Epoch> SampleSource::State::epoch_of(Index sample) {
  const std::scoped_lock lock(mutex);
  while (epochs.empty() || epochs.back()->end_sample() <= sample)
    epochs.push_back(
        make_epoch(std::ssize(epochs), epochs.empty() ? 0 : epochs.back()->end_sample()));
  return *std::ranges::upper_bound(epochs, sample, {}, &Epoch::end_sample);
}

SampleSource::SampleSource(Rows rows, SampleOptions options) : state_(std::make_shared<State>()) {
  expect(!rows.empty(), "samples are made of at least one row");
  for (const auto& row : rows)
    expect(!row.empty() && std::ssize(row) <= options.sequence_len, "a row fits a sequence");
  state_->rows = std::move(rows);
  state_->options = options;
}

Sample SampleSource::at(Index n) const {
  expect(n >= 0, "samples count from 0");
  const auto epoch = state_->epoch_of(n);
  Sample sample;
  for (const Index row : epoch->rows_of(n)) append_document(sample, state_->rows[row]);
  return sample;
}

std::vector<Index> SampleSource::lengths(Index n) const {
  expect(n >= 0, "samples count from 0");
  const auto epoch = state_->epoch_of(n);
  std::vector<Index> lengths;
  for (const Index row : epoch->rows_of(n)) lengths.push_back(std::ssize(state_->rows[row]));
  return lengths;
}

Index SampleSource::samples_per_epoch() const {
  return state_->epoch_of(0)->bins.count();
}

Index SampleSource::row_count() const {
  return std::ssize(state_->rows);
}

Index SampleSource::sequence_len() const {
  return state_->options.sequence_len;
}

}  // namespace cpplan::data
