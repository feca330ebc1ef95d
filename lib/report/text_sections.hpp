#pragma once
// The sections of a plan's text, each without its heading; empty where the plan knows nothing of
// it.
#include <string>

#include "plan/plan.hpp"

namespace cpplan::report {

std::string world_section(const plan::Plan& plan);
std::string batch_section(const plan::Plan& plan);
std::string steps_section(const plan::Plan& plan);
std::string packing_section(const plan::Plan& plan);
std::string as_section(const plan::Plan& plan);
std::string learning_rate_section(const plan::Plan& plan);

std::string layout_section(const plan::Plan& plan);
std::string sequence_section(const plan::Plan& plan);
std::string documents_section(const plan::Plan& plan);
std::string dimensions_section(const plan::Plan& plan);

std::string framework_memory_section(const plan::Plan& plan);
std::string memory_section(const plan::Plan& plan);
std::string launch_section(const plan::Plan& plan);
std::string traffic_title(const plan::Plan& plan);
std::string traffic_section(const plan::Plan& plan);
std::string time_section(const plan::Plan& plan);

}  // namespace cpplan::report
