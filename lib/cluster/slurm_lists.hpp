#pragma once
// SLURM's two shorthands: counts with repetition, and node names with ranges.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan::cluster {

/// "4(x2),3" -> {4, 4, 3}. Error where the text is not of that form.
Result<std::vector<Index>> parse_tasks_per_node(std::string_view text);

/// Tasks of all nodes; a sum beyond 64 bits leaves the rest out.
Index total_tasks(const std::vector<Index>& tasks_per_node);

/// "cp[1-3,7],gpu[01-16]-ib,login" -> cp1, cp2, cp3, cp7, gpu01-ib, ...: numbers keep their zeros,
/// a name may have several brackets (the last one runs fastest), as `scontrol show hostnames`
/// expands them. Errors: unbalanced brackets, a range that is none, more than a million names.
Result<std::vector<std::string>> parse_node_list(std::string_view text);

}  // namespace cpplan::cluster
