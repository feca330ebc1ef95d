#include "base/log.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace cpplan {
namespace {

/// What `speak` writes to the stream of descriptor `fd`.
template <class Speak>
std::string written_to(int fd, Speak speak) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  std::fflush(nullptr);
  const int saved = ::dup(fd);
  ::dup2(::fileno(file), fd);
  speak();
  std::fflush(nullptr);
  ::dup2(saved, fd);
  ::close(saved);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST_CASE("log: messages go to stderr with level and prefix") {
  log::set_prefix("rank 3");
  const std::string text = written_to(STDERR_FILENO, [] { log::warning("slow {} link"); });
  log::set_prefix("");
  CHECK(text.find("cpplan: rank 3: ") != std::string::npos);
  CHECK(text.find("warning") != std::string::npos);
  CHECK(text.find("slow {} link\n") != std::string::npos);
}

TEST_CASE("log: stdout carries nothing") {
  CHECK(written_to(STDOUT_FILENO, [] { log::error("to stderr"); }).empty());
}

TEST_CASE("log: messages below the level are dropped") {
  CHECK(written_to(STDERR_FILENO, [] { log::info("quiet"); }).empty());
  log::set_level(log::Level::debug);
  CHECK_FALSE(written_to(STDERR_FILENO, [] { log::debug("loud"); }).empty());
  log::set_level(log::Level::warning);
}

}  // namespace
}  // namespace cpplan
