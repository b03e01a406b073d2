#!/bin/sh
# Installs Pawl {{.Version}} below --prefix DIR (default: ~/.local). It checks the archive that it
# downloads against the checksum below and installs nothing if they differ.
#   --from URL   folder of the archives (default: {{.From}})
set -eu

fail() {
	echo "install.sh: $1" >&2
	exit 1
}

install_pawl() {
	prefix=${HOME:+$HOME/.local}
	from={{.From}}
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix) prefix=${2:?--prefix needs a folder} && shift 2 ;;
		--from) from=${2:?--from needs a URL} && shift 2 ;;
		*) fail "unknown argument $1: --prefix DIR and --from URL are known" ;;
		esac
	done
	[ -n "$prefix" ] || fail 'HOME is not set: say --prefix DIR'

	system=$(uname -s)-$(uname -m)
	case $system in
{{- range .Unix}}
	{{.System}}) archive={{.Name}} sum={{.Sum}} ;;
{{- end}}
	*) fail "there is no archive for $system" ;;
	esac

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	if command -v curl >/dev/null; then
		curl -fsSL -o "$work/$archive" "$from/$archive" || fail "cannot download $from/$archive"
	elif command -v wget >/dev/null; then
		wget -q -O "$work/$archive" "$from/$archive" || fail "cannot download $from/$archive"
	else
		fail 'curl or wget is needed'
	fi
	if command -v sha256sum >/dev/null; then
		got=$(sha256sum <"$work/$archive")
	else
		got=$(shasum -a 256 <"$work/$archive") || fail 'sha256sum or shasum is needed'
	fi
	got=${got%% *}
	[ "$got" = "$sum" ] || fail "$archive has the checksum $got, not $sum: nothing was installed"

	tar -xzf "$work/$archive" -C "$work"
	unpacked=$work/${archive%.tar.gz}
	# A program may be running: it is replaced, not written to.
	(cd "$unpacked" && find . -type d) | while read -r folder; do mkdir -p "$prefix/$folder"; done
	(cd "$unpacked" && find . -type f) | while read -r file; do
		cp "$unpacked/$file" "$prefix/$file.new"
		mv -f "$prefix/$file.new" "$prefix/$file"
	done
	echo "installed: $("$prefix/bin/pawl" version), in $prefix/bin"
	case :$PATH: in
	*":$prefix/bin:"*) ;;
	*) echo "add it to your PATH:  export PATH=\"$prefix/bin:\$PATH\"" ;;
	esac
}

# Last, so that a script that arrived in part does nothing.
install_pawl "$@"
