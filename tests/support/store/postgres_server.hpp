#pragma once
// A real PostgreSQL in a temporary directory on a free loopback port, to be started, killed, paused and restarted by
// tests. Everything is removed at the end.

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace oncegate::test {

class PostgresServer {
 public:
    /// Creates and starts one. `settings` are lines for postgresql.conf. Throws when that is not possible.
    explicit PostgresServer(const std::vector<std::string>& settings = {});
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    /// One server for all tests of this process, started at the first call.
    static PostgresServer& shared();

    void start();
    /// Ends it in good order; connections are closed by the server.
    void stop();
    /// kill -9 of the server and every process of it, as the kernel does when memory runs out.
    void kill();
    /// SIGSTOP and SIGCONT for the server and every process of it: connections stand, nothing answers.
    void pause();
    void resume();

    int port() const { return port_; }
    /// postgresql://postgres@127.0.0.1:PORT/postgres
    std::string url() const;

    /// Runs SQL as the superuser; the first column of the first row, or nothing. Throws on an error.
    std::string query(const std::string& sql) const;

 private:
    std::filesystem::path folder_;
    int port_ = 0;
    pid_t server_ = -1;
    std::vector<pid_t> paused_;
};

}  // namespace oncegate::test
