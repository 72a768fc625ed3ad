#!/usr/bin/env bash
# From a fresh Debian 12 to a running proxy: installs what is missing, builds a release, starts the demo upstream and Oncegate
# on its embedded store, sends one keyed payment twice and shows both answers. Then runs until Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=deploy/debian.sh
source deploy/debian.sh

usage() {
    cat <<'TEXT'
usage: deploy/quickstart.sh [--once]

  --once   ends after the demonstration instead of running until Ctrl-C;
           fails unless the payment was executed exactly once
TEXT
}

once=no
for argument in "$@"; do
    case $argument in
        --once) once=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 1 ;;
    esac
done

work=$(mktemp -d "${TMPDIR:-/tmp}/oncegate-quickstart.XXXXXX")
pids=()

# Stops what this script started, and nothing else; what does not end on SIGTERM within ten seconds is killed.
clean_up() {
    local pid tries
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do
        for ((tries = 0; tries < 100; tries++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

build() {
    # A tree that the tests have configured is used as it is, so that neither invalidates the other.
    if [ ! -f build/release/build.ninja ]; then
        say "Configuring the release build"
        cmake --preset release -DONCEGATE_TESTS=OFF
    fi
    say "Building oncegate (the first time takes some minutes)"
    cmake --build build/release --target oncegate -j "$(build_jobs)"
}

port_is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The wanted port, or the next one up that nobody listens on.
free_port() {
    local port
    for ((port = $1; port < $1 + 100; port++)); do
        if ! port_is_taken "$port"; then echo "$port"; return; fi
    done
    fail "no free port from $1 to $port"
}

# Starts a program of ours with its output in a file of its name.
start() {
    local name=$1
    shift
    build/release/src/oncegate "$@" >"$work/$name.out" 2>"$work/$name.log" </dev/null &
    pids+=("$!")
}

wait_until_ready() {
    local name=$1 url=$2 pid=${pids[-1]} deadline=$((SECONDS + 30))
    until curl -fsS -o /dev/null --max-time 2 "$url" 2>/dev/null; do
        if ! kill -0 "$pid" 2>/dev/null || [ $SECONDS -ge $deadline ]; then
            cat "$work/$name.log" >&2
            fail "$name did not become ready at $url"
        fi
        sleep 0.1
    done
}

pay() {
    curl -sS -i --max-time 30 -X POST "http://$listener/v1/payments" \
        -H "Idempotency-Key: $key" -H 'Content-Type: application/json' -d '{"amount": 1200, "currency": "eur"}' | tr -d '\r'
}

show() { sed -e 's/^/    /' -e 's/^\( *idempotent-replayed:.*\)$/\1     <-- the recorded answer/I' "$1"; echo; }

install_missing curl "${build_packages[@]}"
build

upstream=127.0.0.1:$(free_port 9000)
listener=127.0.0.1:$(free_port 8080)
admin=127.0.0.1:$(free_port 9901)
# The shipped file takes these: ports that are free here, and the store in this run's own directory.
export ONCEGATE_BIND=$listener ONCEGATE_ADMIN=$admin ONCEGATE_DEMO=$upstream ONCEGATE_DB=$work/oncegate.db

say "Starting the demo upstream on $upstream: a payments API that counts what it really executes"
start demo-upstream demo-upstream --bind "$upstream"
wait_until_ready demo-upstream "http://$upstream/healthz"

say "Starting Oncegate on $listener (admin on $admin) with config/quickstart.yaml"
start oncegate serve -c config/quickstart.yaml
wait_until_ready oncegate "http://$admin/readyz"

# A key in double quotes, as the standard has it: a Structured Field String.
key="\"quickstart-$(date +%s)-$$\""
say "A payment, sent through Oncegate"
cat <<TEXT
    curl -i -X POST http://$listener/v1/payments -H 'Idempotency-Key: $key' \\
         -H 'Content-Type: application/json' -d '{"amount": 1200, "currency": "eur"}'

TEXT
pay >"$work/first"
show "$work/first"
say "The same request again: a retry, as a client sends it after a lost answer"
pay >"$work/second"
show "$work/second"
executions=$(curl -sS --max-time 10 "http://$upstream/count")
say "What the upstream has executed (GET http://$upstream/count)"
printf '    %s\n' "$executions"

grep -qi '^idempotent-replayed: true$' "$work/second" || fail "the second answer is no replay"
grep -qE '"executions": ?1[,}]' <<<"$executions" || fail "the payment was not executed exactly once"

if [ $once = yes ]; then
    say "Done: two requests, one payment."
    exit 0
fi

trap 'exit 0' INT TERM
say "Running until Ctrl-C. Try it:"
cat <<TEXT
    curl -i -X POST http://$listener/v1/payments -H 'Idempotency-Key: "my-first-key"' -d 'amount=500&currency=eur'
    curl -s http://$upstream/count
    curl -s http://$listener/.well-known/idempotency -H 'Accept: application/json'
    curl -s http://$admin/metrics

    The access log follows.
TEXT
tail -n +1 -f --pid="${pids[-1]}" "$work/oncegate.out" &
pids+=("$!")
wait "${pids[1]}" || fail "oncegate ended by itself: $(tail -n 5 "$work/oncegate.log")"
