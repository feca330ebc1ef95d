#pragma once
// Settings for tests that build a config by hand.
#include <string>
#include <utility>

#include "config/training_config.hpp"

namespace cpplan::test {

/// Gives a setting as if `key` stood on `line` of the file, its value from column 10 on. Not
/// inlined: g++ 12 takes the unset optional of a local config for uninitialised memory.
template <class T>
[[gnu::noinline]] void give(config::Setting<T>& setting, std::type_identity_t<T> value,
                            std::string key = {}, int line = 1) {
  setting.value = std::move(value);
  setting.key = std::move(key);
  setting.key_span = {"config.yaml", line, 1, line, 9};
  setting.span = {"config.yaml", line, 10, line, 12};
}

}  // namespace cpplan::test
