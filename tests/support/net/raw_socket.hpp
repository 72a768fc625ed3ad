#pragma once
// A TCP socket for tests that speaks bytes, not HTTP: blocking calls that throw PeerFailure instead of waiting for
// ever. Independent of Asio, so that the code under test is not checked by itself.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

namespace oncegate::test {

/// Something a script expected did not happen.
struct PeerFailure : std::runtime_error {
    explicit PeerFailure(const std::string& what, int number = 0) : std::runtime_error(what), error(number) {}
    int error;  ///< errno, where the system said no
};

/// Holds a script until the test lets it go on.
class Gate {
 public:
    void open();
    /// Throws PeerFailure when it is not opened in time.
    void wait();

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

class RawSocket {
 public:
    /// How the other side ended the connection.
    enum class End { closed, reset };

    /// Takes an open descriptor.
    explicit RawSocket(int descriptor);
    ~RawSocket();
    RawSocket(RawSocket&& other) noexcept;
    RawSocket& operator=(RawSocket&& other) noexcept;

    /// A client of 127.0.0.1:`port`.
    static RawSocket connect(std::uint16_t port);

    void send(std::string_view bytes);
    /// One byte a packet.
    void send_slowly(std::string_view bytes);

    /// Exactly so many bytes.
    std::string read(std::size_t bytes);
    /// Up to and including `mark`.
    std::string read_until(std::string_view mark);
    /// A message head with its empty line.
    std::string read_head() { return read_until("\r\n\r\n"); }
    /// Throws when the next bytes differ.
    void expect(std::string_view bytes);
    /// Everything up to the end; a reset throws.
    std::string read_all();
    /// Reads and drops until the connection ends, and tells how.
    End wait_end();
    /// A message with Content-Length or chunked framing: the head, and the body with its chunk framing as received.
    struct Message {
        std::string head;
        std::string body;
    };
    Message read_message();

    /// No more bytes from here; reading goes on.
    void half_close();
    void close();
    /// Closes with a reset.
    void reset();
    /// Makes the receive buffer as small as the system allows: the other side soon cannot write.
    void shrink_receive_buffer();

    std::uint16_t local_port() const;

 private:
    bool fill();

    int descriptor_ = -1;
    std::string held_;  ///< received and not yet asked for
};

}  // namespace oncegate::test
