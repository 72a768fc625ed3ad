#pragma once
// The version of this build, as CMake knows it.

namespace oncegate::app {

const char* version();

}  // namespace oncegate::app
