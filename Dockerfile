# The program alone, built from source, in an image of Debian 12; it runs without root. No BuildKit feature is needed.
FROM debian:bookworm-slim AS build
WORKDIR /src
COPY deploy/debian.sh deploy/debian.sh
RUN bash -euc 'source deploy/debian.sh; install_missing "${build_packages[@]}"'
COPY CMakeLists.txt CMakePresets.json ./
COPY src src
RUN bash -euc 'source deploy/debian.sh; cmake --preset release -DONCEGATE_TESTS=OFF; \
               cmake --build build/release --target oncegate -j "$(build_jobs)"; strip build/release/src/oncegate'

FROM debian:bookworm-slim
COPY deploy/debian.sh /tmp/debian.sh
RUN bash -euc 'source /tmp/debian.sh; install_missing "${run_packages[@]}"; \
               rm -rf /tmp/debian.sh /var/lib/apt/lists/*; \
               useradd --system --uid 10001 --home-dir /var/lib/oncegate --no-create-home --shell /usr/sbin/nologin oncegate; \
               install -d -o oncegate /var/lib/oncegate'
COPY --from=build /src/build/release/src/oncegate /usr/local/bin/oncegate
COPY config/*.yaml /etc/oncegate/
# A container is reached from outside, so its loopback is of no use as an address to listen on.
ENV ONCEGATE_BIND=0.0.0.0:8080
USER oncegate
WORKDIR /var/lib/oncegate
VOLUME /var/lib/oncegate
EXPOSE 8080
ENTRYPOINT ["oncegate"]
# Something to try. For real use mount a file of your own and name it: docker run ... oncegate serve -c /etc/oncegate/mine.yaml
CMD ["serve", "-c", "/etc/oncegate/quickstart.yaml"]
