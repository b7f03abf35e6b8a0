#!/usr/bin/env bash
# Generates internal/controlpb from the gateway's control.proto, and docs/ from the declared tables. With --check it
# changes nothing and fails, showing the difference, when what is committed is not what would be generated. Needs protoc
# (Debian: protobuf-compiler).
set -euo pipefail
cd "$(dirname "$0")"
proto_folder=../alluxio-adapter/src/main/proto
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/docs"
go build -o "$work/bin/" google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc ./internal/gendocs
PATH="$work/bin:$PATH" protoc -I "$proto_folder" \
  --go_out="$work" --go_opt=module=posixgateway.io/csi \
  --go-grpc_out="$work" --go-grpc_opt=module=posixgateway.io/csi control.proto
# Which protoc ran is no property of the result.
sed -i -E '/^\/\/[[:space:]]+(- )?protoc[[:space:]]+v/d' "$work"/internal/controlpb/*.go
for page in attributes metrics; do "$work/bin/gendocs" "$page" >"$work/docs/$page.md"; done
for generated in internal/controlpb docs; do
  if [ "${1-}" = --check ]; then
    diff -ru "$generated" "$work/$generated" || { echo "run csi/generate.sh and commit the result" >&2; exit 1; }
  else
    mkdir -p "$generated"
    cp "$work/$generated"/* "$generated/"
  fi
done
