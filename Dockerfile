# syntax=docker/dockerfile:1
# Images of agent and controller, for amd64 and arm64:
#   docker buildx build --platform linux/amd64,linux/arm64 --target agent -t mbcas-agent:0.1.0 .
#   docker buildx build --platform linux/amd64,linux/arm64 --target controller -t mbcas-controller:0.1.0 .
# To pin both bases: --build-arg DENO_IMAGE=...@sha256:... --build-arg BASE_IMAGE=...@sha256:...

ARG DENO_IMAGE=denoland/deno:debian-2.9.6
ARG BASE_IMAGE=gcr.io/distroless/cc-debian12:nonroot

# Runs on the builder's own architecture: Deno compiles for others, too.
FROM --platform=$BUILDPLATFORM ${DENO_IMAGE} AS build
WORKDIR /src
COPY deno.json deno.lock ./
COPY shared shared
COPY adapters adapters
COPY agent agent
COPY controller controller
ARG TARGETARCH
# The permission sets of deno.json become part of the binaries; see tools/build/programs.ts.
RUN set -eu; \
    case "$TARGETARCH" in \
      amd64) target=x86_64-unknown-linux-gnu ;; \
      arm64) target=aarch64-unknown-linux-gnu ;; \
      *) echo "Cannot build for $TARGETARCH: expected amd64 or arm64" >&2; exit 1 ;; \
    esac; \
    for program in agent controller; do \
      deno compile -P=$program --no-prompt --no-check --frozen --bundle --minify \
        --exclude-unused-npm --v8-flags=--max-semi-space-size=1,--single-threaded-gc --target=$target \
        --output=/out/mbcas-$program $program/main.ts; \
    done

FROM ${BASE_IMAGE} AS agent
LABEL org.opencontainers.image.title="mbcas-agent" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/mbcas-agent /mbcas-agent
ENV MALLOC_ARENA_MAX=1
ENV MALLOC_TRIM_THRESHOLD_=65536
USER 65532:65532
ENTRYPOINT ["/mbcas-agent"]

FROM ${BASE_IMAGE} AS controller
LABEL org.opencontainers.image.title="mbcas-controller" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/mbcas-controller /mbcas-controller
ENV MALLOC_ARENA_MAX=1
ENV MALLOC_TRIM_THRESHOLD_=65536
USER 65532:65532
ENTRYPOINT ["/mbcas-controller"]
