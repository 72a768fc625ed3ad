#include "async/offload.hpp"

#include <pthread.h>

namespace oncegate::async {

BlockingThread::BlockingThread(const std::string& name) : thread_(1) {
    boost::asio::post(thread_, [name] { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); });
}

BlockingThread::~BlockingThread() {
    thread_.stop();
    thread_.join();
}

}  // namespace oncegate::async
