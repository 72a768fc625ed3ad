// The one translation unit that holds Asio's out-of-line code (see CMakeLists.txt: BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
