#include "app/version.hpp"

namespace oncegate::app {

const char* version() { return ONCEGATE_VERSION; }

}  // namespace oncegate::app
