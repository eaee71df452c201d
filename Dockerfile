# The host's door as an image: Debian's packages and the Python packages of the locks, both brought by
# scripts/setup. docs/INSTALL.md says how it is used, with and without root.
FROM debian:12-slim
ENV DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PYTHONNOUSERSITE=1
COPY . /benchbook
WORKDIR /benchbook
RUN scripts/setup && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives /root/.cache build
# As inside of scripts/in-env, so that `snakemake` works in this checkout and in yours; a user whom the
# image does not know needs a name and a home.
ENV BENCHBOOK_DOOR=host VIRTUAL_ENV=/benchbook/.venv PATH=/benchbook/.venv/bin:$PATH \
    USER=benchbook HOME=/tmp
CMD ["snakemake"]
