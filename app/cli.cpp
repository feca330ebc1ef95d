#include "cli.hpp"

namespace cpplan::app {

int main(int, char**) { return 0; }

}  // namespace cpplan::app
