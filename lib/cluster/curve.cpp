#include "cluster/curve.hpp"

#include <algorithm>

namespace cpplan::cluster {
namespace {

double interpolate(const Curve::Point& a, const Curve::Point& b, double size) {
  return a.seconds + (b.seconds - a.seconds) * (size - a.size) / (b.size - a.size);
}

bool increases(const std::vector<Curve::Point>& points) {
  const auto less = [](const auto& a, const auto& b) { return a.size < b.size; };
  return std::ranges::adjacent_find(points, std::not_fn(less)) == points.end();
}

}  // namespace

Curve Curve::line(double latency, double rate) {
  Curve curve;
  curve.points_ = {{0.0, latency}, {rate, latency + 1.0}};
  return curve;
}

Result<Curve> Curve::through(std::vector<Point> points) {
  const bool usable =
      std::ranges::all_of(points, [](const Point& p) { return p.size >= 0 && p.seconds > 0; });
  if (points.empty() || !usable || !increases(points))
    return failure(
        "a curve has no line through its points (it needs one or more [size, seconds] with "
        "increasing sizes). measure again with cpplan bench");
  Curve curve;
  curve.points_ = std::move(points);
  return curve;
}

double Curve::operator()(double size) const {
  const Point& first = points_.front();
  if (points_.size() == 1 || size <= first.size)
    return first.seconds * std::max(0.5, first.size > 0 ? size / first.size : 1.0);
  const auto above = std::ranges::find_if(points_, [&](const Point& p) { return size <= p.size; });
  if (above != points_.end()) return interpolate(*(above - 1), *above, size);
  const double beyond = interpolate(points_.end()[-2], points_.back(), size);
  return std::max(points_.back().seconds, beyond);
}

Json to_json(const Curve& curve) {
  Json json = Json::array();
  for (const auto& [size, seconds] : curve.points())
    json.push_back(Json::Array{Json(size), Json(seconds)});
  return json;
}

Result<Curve> curve_from(const Json& json) {
  std::vector<Curve::Point> points;
  const bool list = json.is_array();
  for (const Json& pair : list ? json.elements() : Json::Array{}) {
    const bool two = pair.is_array() && pair.elements().size() == 2;
    if (!two || !pair.elements()[0].is_number() || !pair.elements()[1].is_number())
      return failure(
          "an element of a curve is no pair of numbers (it is [size, seconds]). write [1024, "
          "1e-6]");
    points.push_back({pair.elements()[0].as_double(), pair.elements()[1].as_double()});
  }
  return Curve::through(std::move(points));
}

}  // namespace cpplan::cluster
