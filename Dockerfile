# An image of Gatehouse: one program on a slim Debian, for any user id, on a read-only root file system.
# See docs/operations/deploy.md. `make test` runs these steps without a container engine (scripts/build-image-program.ts).

FROM node:22-bookworm-slim AS build
WORKDIR /build
# Packages change seldom, so they have their own layer. The runtime, Bun, is one of them.
COPY package.json package-lock.json .npmrc ./
COPY scripts/install.sh scripts/install.sh
RUN scripts/install.sh
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
COPY web web
RUN node_modules/.bin/bun scripts/build-dashboard.ts \
    && node_modules/.bin/bun scripts/build-binary.ts

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="A gateway for applications that call large language models" \
      org.opencontainers.image.licenses="Apache-2.0"
# Writable for any user: an orchestrator may choose user and group.
RUN install -d -m 1777 /data
COPY LICENSE /usr/share/doc/gatehouse/LICENSE
COPY --from=build /build/dist/gatehouse /usr/local/bin/gatehouse
# The default is loopback. In a container, the container's network limits access.
ENV GATEHOUSE_HOST=0.0.0.0 \
    GATEHOUSE_DATA_DIR=/data
USER 10001:10001
VOLUME /data
EXPOSE 4000 9464
# Uses bash, because the image has no HTTP client. Checks that the process lives; load balancers ask /readyz whether it is ready.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${GATEHOUSE_PORT:-4000} && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 2 line <&3 && [[ $line == *' 200 '* ]]"]
# Without a shell, so signals reach the gateway, which replaces itself once under the same process id.
ENTRYPOINT ["gatehouse"]
CMD ["serve"]
