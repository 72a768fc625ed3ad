#!/usr/bin/env bash
# Everything the project can prove, from a clean checkout: installs what the tests need, builds with optimisation and with
# sanitizers, and runs every test of both builds through one ctest, whose summary closes the output.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/debian.sh
source deploy/debian.sh

usage() {
    cat <<'TEXT'
usage: tests/run.sh [--quick] [-R REGEX] [-L LABEL] [-E REGEX]

  --quick     the release build only, without the sanitizer build
  -R REGEX    only tests whose name matches        (these three are ctest's own)
  -E REGEX    no tests whose name matches
  -L LABEL    only tests of that label: unit, store, net, proxy, system, tidy
TEXT
}

presets=(release asan)
selection=()
while [ $# -gt 0 ]; do
    case $1 in
        --quick) presets=(release) ;;
        -R | -E | -L)
            [ $# -ge 2 ] || { usage >&2; exit 1; }
            selection+=("$1" "$2")
            shift
            ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 1 ;;
    esac
    shift
done

# The tests start PostgreSQL servers of their own in temporary directories; Debian's default cluster is neither wanted nor started.
install_postgresql() {
    [ -n "$(missing_of postgresql-15)" ] || return 0
    local settings=/etc/postgresql-common/createcluster.conf
    if [ -n "$(missing_of postgresql-common)" ]; then
        install_missing postgresql-common
        as_root sed -i -E 's/^#?create_main_cluster.*/create_main_cluster = false/' "$settings"
    fi
    install_missing postgresql-15
}

# nginx is a peer and a yardstick of the tests, which start it themselves: Debian's own service is not wanted. policy-rc.d is Debian's way
# to say so while a package is being installed.
install_nginx() {
    [ -n "$(missing_of nginx-light)" ] && ! command -v nginx >/dev/null && [ ! -x /usr/sbin/nginx ] || return 0
    local policy=/usr/sbin/policy-rc.d
    if [ -e "$policy" ]; then install_missing nginx-light; return; fi
    as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$policy && chmod +x $policy"
    local installed=0
    install_missing nginx-light || installed=$?
    as_root rm -f "$policy"
    return "$installed"
}

# Other packagers' node brings npm along and conflicts with Debian's package, so the command decides, not the package.
install_node() {
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then install_missing nodejs npm; fi
}

# The client SDKs that the system tests drive. Skipped when the installed tree is that of the lock file.
install_node_modules() {
    local tree=tests/system/node/node_modules
    [ -f tests/system/node/package-lock.json ] || return 0
    if [ -f "$tree/.from-lock" ] && cmp -s "$tree/.from-lock" tests/system/node/package-lock.json; then return 0; fi
    say "Installing the client libraries of tests/system/node"
    npm ci --prefix tests/system/node --ignore-scripts --no-audit --no-fund </dev/null
    cp tests/system/node/package-lock.json "$tree/.from-lock"
}

build() {
    local preset=$1
    say "Building $preset"
    cmake --preset "$preset" -DONCEGATE_TESTS=ON -DONCEGATE_WERROR=ON
    cmake --build "build/$preset" -j "$(build_jobs)" </dev/null
}

install_missing "${build_packages[@]}" catch2 ccache curl ca-certificates python3 clang-format openssl wrk nghttp2-client chromium
install_postgresql
install_nginx
install_node
install_node_modules
for preset in "${presets[@]}"; do build "$preset"; done

# One ctest over the chosen builds, so that one summary tells about all of them.
printf 'subdirs(%s)\n' "${presets[*]}" >build/CTestTestfile.cmake
say "Testing ${presets[*]}"
exec ctest --test-dir build --output-on-failure --no-tests=error -j "$(nproc)" "${selection[@]}" </dev/null
