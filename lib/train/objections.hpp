#pragma once
// What of a config our engine does not do: a reason to refuse the run, or a warning that it trains
// something else. Nothing is left out without a word.
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace cpplan::train {

struct Objection {
  enum class Kind : std::uint8_t {
    refused,   // the run would not be the one that the config asks for
    replaced,  // trained dense, in full precision: what a layout check needs is the same
  } kind = Kind::refused;
  std::string message, why, help;
  diag::Span span;  // of the value that asks for it
};

std::vector<Objection> objections(const plan::Plan&);

}  // namespace cpplan::train
