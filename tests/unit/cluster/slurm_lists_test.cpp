#include "cluster/slurm_lists.hpp"

#include <doctest/doctest.h>

using namespace cpplan;
using cluster::parse_node_list;
using cluster::parse_tasks_per_node;
using Names = std::vector<std::string>;

TEST_CASE("slurm lists: tasks of a node may be repeated") {
  CHECK(parse_tasks_per_node("8") == std::vector<Index>{8});
  CHECK(parse_tasks_per_node("4(x2),3") == std::vector<Index>{4, 4, 3});
  CHECK(parse_tasks_per_node(" 2,1(x3) ") == std::vector<Index>{2, 1, 1, 1});
}

TEST_CASE("slurm lists: what is no list of counts is an error") {
  for (const char* text : {"", ",", "4,", "4(x0)", "0(x2)", "-1", "4(x2", "4x2", "4(x9999999)",
                           "1(x9223372036854775807)", "1(x600000),1(x600000)"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_tasks_per_node(text));
  }
}

TEST_CASE("slurm lists: a node list is expanded with its zeros") {
  CHECK(parse_node_list("cp1") == Names{"cp1"});
  CHECK(parse_node_list("jean-zay-ia[08-10,12]") ==
        Names{"jean-zay-ia08", "jean-zay-ia09", "jean-zay-ia10", "jean-zay-ia12"});
  CHECK(parse_node_list("cp[1-3,7],gpu[01-02]-ib,login") ==
        Names{"cp1", "cp2", "cp3", "cp7", "gpu01-ib", "gpu02-ib", "login"});
}

TEST_CASE("slurm lists: numbers grow beyond the width they are written in") {
  CHECK(parse_node_list("n[8-11]") == Names{"n8", "n9", "n10", "n11"});
  CHECK(parse_node_list("n[098-101]") == Names{"n098", "n099", "n100", "n101"});
}

TEST_CASE("slurm lists: the last of several brackets runs fastest") {
  CHECK(parse_node_list("rack[0-1]n[1-2]") == Names{"rack0n1", "rack0n2", "rack1n1", "rack1n2"});
}

TEST_CASE("slurm lists: what is no node list is an error") {
  for (const char* text : {"", "a,,b", "cp[1-3", "cp1-3]", "cp[3-1]", "cp[a-b]", "cp[]", "cp[1,]",
                           "cp[0-99999999]", "a[0-9999]b[0-9999]", "n[0000000000000001]"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_node_list(text));
  }
}
