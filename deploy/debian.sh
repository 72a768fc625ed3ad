# Sourced, not run: what Oncegate needs from Debian 12, and how the scripts here and under tests/ install it.
# The Dockerfile reads the same two lists, so there is one place to change when a dependency comes or goes.
# shellcheck shell=bash disable=SC2034  # the lists are used by those who source this

build_packages=(
    build-essential cmake ninja-build pkg-config
    libboost1.81-dev libboost-url1.81-dev libboost-json1.81-dev
    libssl-dev libpq-dev libsqlite3-dev libre2-dev
    libyaml-cpp-dev libspdlog-dev libfmt-dev libcli11-dev
    prometheus-cpp-dev libcivetweb-dev libcurl4-openssl-dev zlib1g-dev
)
run_packages=(
    ca-certificates libboost-json1.81.0 libboost-container1.81.0 libboost-url1.81.0
    libssl3 libpq5 libsqlite3-0 libre2-9 libyaml-cpp0.7 libspdlog1.10 libprometheus-cpp-core1.0
)

say() { printf '\n\033[1m==> %s\033[0m\n' "$*"; }
fail() { printf '\nerror: %s\n' "$*" >&2; exit 1; }

# Runs a command with the rights that apt needs.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo -- "$@"
    else fail "this needs root (or sudo) to run: $*"
    fi
}

missing_of() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s\n' "$package"
    done
}

# Installs those of the named packages that are not there; asks nothing, and does nothing when all are.
install_missing() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        fail "packages are installed with apt, so this needs Debian 12. Elsewhere, build the Dockerfile."
    fi
    local missing
    mapfile -t missing < <(missing_of "$@")
    if [ ${#missing[@]} -eq 0 ]; then return 0; fi
    say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
    # `env` because sudo does not pass the variable on.
    as_root apt-get update -q </dev/null
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" </dev/null
}

# How many compilers to run: one a core, but not more than memory carries (coroutine files take up to 1.5 GB each).
build_jobs() {
    local cores available_kb by_memory
    cores=$(nproc)
    available_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    by_memory=$((available_kb / 1500000))
    if [ "$by_memory" -lt 1 ]; then by_memory=1; fi
    if [ "$by_memory" -lt "$cores" ]; then echo "$by_memory"; else echo "$cores"; fi
}
