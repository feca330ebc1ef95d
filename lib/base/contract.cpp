#include "base/contract.hpp"

#include <cstdio>
#include <cstdlib>

namespace cpplan {

void contract_broken(std::string_view what, std::source_location at) {
  std::fprintf(stderr, "cpplan: internal error: %.*s does not hold (%s:%u). Please report it.\n",
               static_cast<int>(what.size()), what.data(), at.file_name(), at.line());
  std::fflush(nullptr);
  std::_Exit(70);
}

}  // namespace cpplan
