#include "app/cli.hpp"

int main(int argc, char** argv) {
  return cpplan::app::main(argc, argv);
}
