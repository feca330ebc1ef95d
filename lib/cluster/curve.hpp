#pragma once
// Seconds as a function of a size (bytes of a message, FLOPs of a product): straight lines through
// measured points, or one line from a data sheet's latency and rate.
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace cpplan::cluster {

class Curve {
 public:
  struct Point {
    double size, seconds;
  };

  /// latency + size / rate.
  static Curve line(double latency, double rate);
  /// Through points of increasing size. Below the first, its seconds shrink with the size, but not
  /// below half of them; beyond the last, the line of the last two goes on, and is never falling.
  static Result<Curve> through(std::vector<Point> points);

  double operator()(double size) const;
  const std::vector<Point>& points() const { return points_; }
  bool empty() const { return points_.empty(); }

 private:
  std::vector<Point> points_;  // of a line: two of them
};

/// [[size, seconds], ...]
Json to_json(const Curve&);
Result<Curve> curve_from(const Json&);

}  // namespace cpplan::cluster
