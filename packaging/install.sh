#!/bin/sh
# Installs the vault from a folder of a release, at a URL: downloads the list of sums and its signature, verifies the
# signature, downloads the program of this machine, compares its SHA-256, and only then puts it in its place. Nothing
# that was downloaded runs before. Without a means to verify (minisign, or OpenSSL 3) it installs nothing.
#
#   sh install.sh --from https://downloads.example.com/vault/0.2.0 --key RW…
#
# Exit codes: 0 installed, 1 failed or refused, 2 invalid usage. Needs curl or wget.
set -eu

usage() {
  cat <<'TEXT'
Usage: sh install.sh --from URL --key KEY [--version VERSION] [--dir DIRECTORY]

  --from URL        the folder of the release; or VAULT_FROM
  --key KEY         the public key of who signs it, RW… (56 characters); or VAULT_KEY. Take it from another place
                    than the folder
  --version VERSION only this version, such as 0.2.0; or VAULT_VERSION [the one in the folder, unless it is
                    older than what is installed]
  --dir DIRECTORY   where the program goes; or VAULT_DIR [/usr/local/bin]
TEXT
}

say() { printf '%s\n' "vault: $*"; }
fail() { printf '%s\n' "vault: $*" >&2; exit 1; }
misused() { printf '%s\n' "vault: $*" >&2; usage >&2; exit 2; }
has() { command -v "$1" >/dev/null 2>&1; }

read_arguments() {
  from=${VAULT_FROM:-} key=${VAULT_KEY:-} version=${VAULT_VERSION:-} dir=${VAULT_DIR:-/usr/local/bin}
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage; exit 0 ;;
      --from | --key | --version | --dir) if [ -z "${2:-}" ]; then misused "$1 needs a value."; fi ;;
      *) misused "unknown argument: $1" ;;
    esac
    case $1 in
      --from) from=$2 ;;
      --key) key=$2 ;;
      --version) version=$2 ;;
      --dir) dir=$2 ;;
    esac
    shift 2
  done
  from=${from%/}
  [ -n "$from" ] || misused '--from is missing: the URL of the folder of the release.'
  [ -n "$key" ] || misused '--key is missing: without the public key nothing can be verified.'
  case $from in
    https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
    *) misused '--from must begin with https://' ;;
  esac
  # A list of processes and an error would show them, and 127.0.0.1:x@host is another host.
  authority=${from#*://}
  case ${authority%%/*} in *@*) misused '--from must be without user and password.' ;; esac
  case $key in RW*) ;; *) misused '--key is no public key of minisign: it begins with RW.' ;; esac
  [ ${#key} -eq 56 ] || misused '--key is no public key of minisign: it has 56 characters.'
}

# The name of this machine in a release, such as linux-x64-musl.
find_target() {
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no program for $(uname -s). On Windows, download vault-…-windows-x64.exe, and check it." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) processor=x64 ;;
    aarch64 | arm64) processor=arm64 ;;
    *) fail "there is no program for the processor $(uname -m)." ;;
  esac
  # A terminal that Rosetta translates says x86_64 on Apple's processors.
  if [ "$system" = darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" = 1 ]; then processor=arm64; fi
  target=$system-$processor
  if [ "$system" = linux ] && is_musl; then target=$target-musl; fi
}

# ldd of musl says so, and exits with 1. Where there is no ldd: a system with glibc has its loader at a place of its own.
is_musl() {
  if has ldd && { ldd --version 2>&1 || true; } | grep -qi musl; then return 0; fi
  for loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do [ ! -e "$loader" ] || return 1; done
  for loader in /lib/ld-musl-*; do [ ! -e "$loader" ] || return 0; done
  return 1
}

find_tools() {
  if has curl; then fetcher=curl; elif has wget; then fetcher=wget; else
    fail 'neither curl nor wget is here. On Debian: apt-get install curl'
  fi
  if has sha256sum; then summer='sha256sum'; elif has shasum; then summer='shasum -a 256'; else
    fail 'neither sha256sum nor shasum is here.'
  fi
  if has minisign; then verifier=minisign; elif openssl_verifies; then verifier=openssl; else
    say 'Install minisign (apt-get install minisign, apk add minisign, brew install minisign) or OpenSSL 3.' >&2
    fail 'nothing here can verify a signature, so nothing is installed.'
  fi
}

# OpenSSL 3 signs and verifies whole messages by Ed25519; LibreSSL and older ones do not.
openssl_verifies() {
  has openssl || return 1
  case $(openssl version 2>/dev/null) in 'OpenSSL '[3-9]*) ;; *) return 1 ;; esac
  printf '' | openssl dgst -blake2b512 >/dev/null 2>&1
}

# A name in the folder, a file, and how many bytes it may have at most: no more are ever written.
fetch() {
  rm -f "$work/broken"
  { download "$from/$1" || : >"$work/broken"; } | head -c "$(($3 + 1))" >"$2"
  [ "$(wc -c <"$2")" -le "$3" ] || fail "$from/$1 is larger than it may be."
  [ ! -e "$work/broken" ] || fail "$from/$1 could not be downloaded."
}

download() {
  case $fetcher in
    # A line that carries less than a thousand bytes a second for half a minute is given up.
    curl) curl -fsSL --connect-timeout 20 -y 30 -Y 1000 "$1" ;;
    # No further flags: BusyBox knows none.
    wget) wget -q -T 30 -O - "$1" ;;
  esac
}

verify_sums() {
  case $verifier in
    minisign) minisign -V -q -P "$key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" >/dev/null 2>&1 ;;
    openssl) verify_by_openssl ;;
  esac || fail 'the signature of SHA256SUMS is not of this key: it is damaged, or a stranger'"'"'s. Nothing is installed.'
}

decode() { printf '%s' "$1" | openssl base64 -d -A; }

# What minisign does: Ed25519 over the BLAKE2b-512 digest of the file, then over the signature with the trusted comment.
verify_by_openssl() {
  signature=$(sed -n 2p "$work/SHA256SUMS.minisig")
  comment=$(sed -n '3s/^trusted comment: //p' "$work/SHA256SUMS.minisig")
  decode "$key" >"$work/key" && decode "$signature" >"$work/signature" || return 1
  decode "$(sed -n 4p "$work/SHA256SUMS.minisig")" >"$work/of-comment" || return 1
  [ "$(wc -c <"$work/key")" -eq 42 ] && [ "$(wc -c <"$work/signature")" -eq 74 ] || return 1
  # The digest is signed, not the file (ED), and by the key of this name.
  [ "$(head -c 2 "$work/signature")" = ED ] && [ "$(head -c 2 "$work/key")" = Ed ] || return 1
  head -c 10 "$work/key" | tail -c 8 >"$work/id"
  head -c 10 "$work/signature" | tail -c 8 | cmp -s - "$work/id" || return 1
  { printf '\060\052\060\005\006\003\053\145\160\003\041\000' && tail -c 32 "$work/key"; } >"$work/key.der"
  tail -c 64 "$work/signature" >"$work/bytes"
  openssl dgst -blake2b512 -binary -out "$work/digest" "$work/SHA256SUMS" || return 1
  is_signed "$work/digest" "$work/bytes" || return 1
  { cat "$work/bytes" && printf '%s' "$comment"; } >"$work/commented"
  is_signed "$work/commented" "$work/of-comment"
}

is_signed() {
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$1" -sigfile "$2" >/dev/null 2>&1
}

# The line of this machine in the list, which the signature covers: a sum, two spaces and vault-VERSION-TARGET.
find_program() {
  pattern="^[0-9a-f]\{64\}  vault-[0-9][0-9A-Za-z.]*-$target\$"
  lines=$(grep "$pattern" "$work/SHA256SUMS" || true)
  [ -n "$lines" ] || fail "the release has no program for $target."
  [ "$(printf '%s\n' "$lines" | wc -l)" -eq 1 ] || fail "the release has several programs for $target."
  sum=${lines%% *}
  name=${lines##* }
  if [ -n "$version" ] && [ "$name" != "vault-$version-$target" ]; then
    fail "the release has $name, not version $version."
  fi
  if [ -z "$version" ]; then refuse_older; fi
}

# A server may offer a release that was signed long ago, whose faults are known.
refuse_older() {
  there=$("$dir/vault" --version 2>/dev/null | sed -n '1s/^vault \([0-9][0-9.]*\)$/\1/p') || true
  offered=${name#vault-}
  offered=${offered%-"$target"}
  if [ -n "$there" ] && is_older "$offered" "$there"; then
    fail "$name is older than $dir/vault, which is $there. To go back to it: --version $offered"
  fi
}

# Whether the first version comes before the second: by their numbers, one after the other.
is_older() {
  old=$1. new=$2.
  while [ -n "$old$new" ]; do
    a=${old%%.*} b=${new%%.*}
    old=${old#*.} new=${new#*.}
    case $a$b in *[!0-9]*) return 1 ;; esac
    [ "${a:-0}" -le "${b:-0}" ] || return 1
    [ "${a:-0}" -ge "${b:-0}" ] || return 0
  done
  return 1
}

install_program() {
  mkdir -p "$dir" 2>/dev/null || true
  # A program that is moved onto a folder lands in it.
  [ ! -d "$dir/vault" ] || fail "$dir/vault is a folder: give another --dir, or move it away."
  [ -w "$dir" ] || fail "$dir cannot be written to: run this as root, or give --dir."
  # In the same directory, so that the last step is a rename: who starts it meanwhile gets the old or the new one.
  draft=$(mktemp "$dir/.vault.XXXXXX") || fail "$dir cannot be written to."
  if ! { cp "$work/program" "$draft" && chmod 755 "$draft" && mv -f "$draft" "$dir/vault"; }; then
    fail "$dir/vault could not be written."
  fi
  draft=
}

main() {
  read_arguments "$@"
  find_target
  find_tools
  umask 022
  draft=
  work=$(mktemp -d) || fail 'no directory for temporary files can be made.'
  trap 'rm -rf "$work"; [ -z "$draft" ] || rm -f "$draft"' EXIT
  trap 'exit 1' HUP INT TERM
  fetch SHA256SUMS "$work/SHA256SUMS" 65536
  fetch SHA256SUMS.minisig "$work/SHA256SUMS.minisig" 4096
  verify_sums
  find_program
  say "the signature is right (checked by $verifier). Downloading $name …"
  fetch "$name" "$work/program" 200000000
  found=$($summer "$work/program" | cut -d ' ' -f 1)
  if [ "$found" != "$sum" ]; then
    fail "$name is damaged: its SHA-256 is $found, that of the release $sum. Nothing is installed."
  fi
  install_program
  case $target in
    *-musl) [ -e /usr/lib/libstdc++.so.6 ] || say 'it needs libstdc++: apk add libstdc++' ;;
  esac
  say "$name is now $dir/vault. Next: vault doctor, then vault service install (vault help service)."
}

main "$@"
