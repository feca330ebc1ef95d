#pragma once

namespace cpplan::app {

/// Parses the command line, runs one subcommand and returns its exit code.
int main(int argc, char** argv);

}  // namespace cpplan::app
