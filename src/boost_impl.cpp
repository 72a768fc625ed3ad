// The one translation unit that holds Asio's and Beast's out-of-line code (see CMakeLists.txt: *_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
