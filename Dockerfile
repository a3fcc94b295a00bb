# The program `doublehold` alone. Serve to other containers and to the host:
#
#     docker build --tag doublehold .
#     docker run --rm --publish 7000-7001:7000-7001 doublehold serve --faults --listen 0.0.0.0
FROM rust:1-slim-bookworm AS build
WORKDIR /doublehold
COPY . .
RUN cargo build --package doublehold-cli --release --locked

FROM debian:bookworm-slim
COPY --from=build /doublehold/target/release/doublehold /usr/local/bin/doublehold
USER nobody
WORKDIR /tmp
ENTRYPOINT ["doublehold"]
