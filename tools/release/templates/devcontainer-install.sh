#!/bin/sh
# Installs Pawl {{.Version}} for all users of the container that is built. Arguments are those of
# install-pawl.sh beside it.
set -eu
cd "$(dirname "$0")"
command -v git >/dev/null || echo 'install.sh: Pawl needs git, which this container lacks' >&2
exec sh ./install-pawl.sh --prefix /usr/local "$@"
