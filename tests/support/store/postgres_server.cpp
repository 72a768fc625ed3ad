#include "support/store/postgres_server.hpp"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace oncegate::test {
namespace {

namespace fs = std::filesystem;

/// The newest installed version's programs; Debian keeps them off the PATH.
fs::path programs() {
    std::vector<fs::path> versions;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", ignored))
        if (fs::exists(entry.path() / "bin" / "postgres")) versions.push_back(entry.path());
    if (versions.empty()) throw std::runtime_error("PostgreSQL is not installed");
    const auto number = [](const fs::path& path) { return std::atoi(path.filename().c_str()); };
    const auto newest = std::max_element(versions.begin(), versions.end(),
                                         [&](const fs::path& a, const fs::path& b) { return number(a) < number(b); });
    return *newest / "bin";
}

int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket, generic, size) != 0 || ::getsockname(socket, generic, &size) != 0)
        throw std::runtime_error("no free port");
    ::close(socket);
    return ntohs(address.sin_port);
}

/// PostgreSQL refuses to run as root: then it runs as the user its package made.
const passwd* server_user() {
    if (::geteuid() != 0) return nullptr;
    const auto* user = ::getpwnam("postgres");
    if (user == nullptr) throw std::runtime_error("root needs the user postgres to run a server as");
    return user;
}

/// Starts a program as the server's user, its output in `log`. Only calls that are allowed between fork and exec.
pid_t spawn(const std::vector<std::string>& command, const fs::path& log) {
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const auto* user = server_user();
    const auto parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child > 0) return child;
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(output, 1);
    ::dup2(output, 2);
    if (user != nullptr && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0))
        _exit(126);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // a test that crashes takes its server along
    if (::getppid() != parent) _exit(125);
    ::execv(arguments.front(), arguments.data());
    _exit(127);
}

int wait_for(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/// The processes whose parent is `parent`.
std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
        const auto name = entry.path().filename().string();
        if (!std::all_of(name.begin(), name.end(), [](unsigned char letter) { return std::isdigit(letter) != 0; }))
            continue;
        std::ifstream file(entry.path() / "stat");
        std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        const auto after_name = stat.rfind(')');
        if (after_name == std::string::npos) continue;
        std::istringstream fields(stat.substr(after_name + 1));
        std::string state;
        pid_t its_parent = 0;
        fields >> state >> its_parent;
        if (its_parent == parent) children.push_back(static_cast<pid_t>(std::atoi(name.c_str())));
    }
    return children;
}

std::string read_all(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

PostgresServer::PostgresServer(const std::vector<std::string>& settings) : port_(free_port()) {
    std::string pattern = (fs::temp_directory_path() / "oncegate-postgres-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = pattern;
    if (const auto* user = server_user()) {
        if (::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) throw std::runtime_error("chown");
    }
    const auto initdb = spawn({programs() / "initdb", "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C",
                               "-D", folder_ / "data"},
                              folder_ / "log");
    if (wait_for(initdb) != 0) throw std::runtime_error("initdb: " + read_all(folder_ / "log"));
    std::ofstream configuration(folder_ / "data" / "postgresql.conf", std::ios::app);
    configuration
        << "listen_addresses = '127.0.0.1'\nport = " << port_ << "\nunix_socket_directories = ''\n"
        << "max_connections = 200\nshared_buffers = 64MB\nlogging_collector = off\nautovacuum_naptime = 10s\n";
    for (const auto& line : settings) configuration << line << '\n';
    configuration.close();
    start();
}

PostgresServer::~PostgresServer() {
    resume();
    if (server_ > 0) {
        ::kill(server_, SIGQUIT);
        wait_for(server_);
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
}

PostgresServer& PostgresServer::shared() {
    static PostgresServer server;
    return server;
}

std::string PostgresServer::url() const {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(port_) + "/postgres";
}

void PostgresServer::start() {
    // A killed server's processes may hold its shared memory for another moment: the new one then refuses to start.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline) {
        if (server_ < 0) server_ = spawn({programs() / "postgres", "-D", folder_ / "data"}, folder_ / "log");
        int status = 0;
        if (::waitpid(server_, &status, WNOHANG) == server_) server_ = -1;
        if (server_ > 0 && PQping(url().c_str()) == PQPING_OK) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw std::runtime_error("PostgreSQL did not start: " + read_all(folder_ / "log"));
}

void PostgresServer::stop() {
    ::kill(server_, SIGINT);  // "fast": open transactions are undone, connections closed
    wait_for(server_);
    server_ = -1;
}

void PostgresServer::kill() {
    // The children first: once the server is gone they are nobody's children.
    ::kill(server_, SIGSTOP);
    const auto children = children_of(server_);
    for (const auto child : children) ::kill(child, SIGKILL);
    ::kill(server_, SIGKILL);
    wait_for(server_);
    server_ = -1;
}

void PostgresServer::pause() {
    ::kill(server_, SIGSTOP);
    // Stopped for good before its children are counted: it may just be making one more.
    int status = 0;
    ::waitpid(server_, &status, WUNTRACED);
    paused_ = children_of(server_);
    for (const auto child : paused_) ::kill(child, SIGSTOP);
}

void PostgresServer::resume() {
    if (paused_.empty()) return;
    for (const auto child : paused_) ::kill(child, SIGCONT);
    ::kill(server_, SIGCONT);
    paused_.clear();
}

std::string PostgresServer::query(const std::string& sql) const {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(url().c_str()), PQfinish);
    PQsetNoticeReceiver(
        connection.get(), [](void*, const PGresult*) {}, nullptr);
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection.get(), sql.c_str()), PQclear);
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        throw std::runtime_error(PQerrorMessage(connection.get()));
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : std::string();
}

}  // namespace oncegate::test
