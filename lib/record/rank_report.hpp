#pragma once
// What a rank says of itself to a launcher on another host: its entry as one line of its standard
// error, which every launcher of processes brings to where it was started.
#include <optional>
#include <string>
#include <string_view>

#include "record/rank_status.hpp"

namespace cpplan::record {

/// How a rank's launcher learns what it does. nobody: mpirun or srun was started by somebody else.
/// folder: the launcher is on this host, and reads the rank's entry. output: it reads its reports.
enum class WatchedThrough : std::uint8_t { nobody, folder, output };

struct RankReport {
  RankStatus status;
  int exit_code = 0;  // of the run as far as it has come: 5 where a promise did not hold
};

/// Launchers pass lines on in pieces of some kilobytes; SLURM's are the shortest, 1,024.
inline constexpr std::size_t longest_report = 1000;

/// One line without its end, at most `longest_report` bytes: last words are cut where they must be.
std::string report_line(const RankReport&);

/// None where the line is no report.
std::optional<RankReport> parse_report(std::string_view line);

}  // namespace cpplan::record
