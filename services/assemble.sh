#!/bin/sh
# assemble.sh FOLDER: lays the built jars out as the image has them.
#   lib/                       the jars of every class path, each once
#   kinds/<kind>/classpath     a program's class path, in order
#   telemetry/<v>/classpath    what a variant adds to it, with the colon before; empty for nothing
#   telemetry/<v>/jvm.options  options that a variant needs, with the jars that they name beside it
#   profiler/                  async-profiler's native library
set -eu
app=$1
kinds="gateway svc-a"
work=$(mktemp -d)
mkdir -p "$app/lib"

# class_path MODULE: copies the module's jars, prints its class path a line each, its own jar (if it has code) first.
class_path() {
  cp -p "$1"/target/lib/*.jar "$app/lib/"
  for jar in "$1"/target/*.jar; do
    [ -f "$jar" ] || continue
    cp -p "$jar" "$app/lib/"
    echo "/app/lib/${jar##*/}"
  done
  tr : '\n' < "$1/target/classpath" | grep .
}

for kind in $kinds; do
  mkdir -p "$app/kinds/$kind"
  class_path "$kind" > "$work/$kind"
  paste -s -d : "$work/$kind" > "$app/kinds/$kind/classpath"
done

# What every program brings by itself; a starter asks for it once more.
(cd "$work" && sort $kinds) | uniq -c | awk -v kinds="$(echo "$kinds" | wc -w)" '$1 == kinds { print $2 }' > "$work/everywhere"

for file in telemetry/*/variant.yaml; do
  module=${file%/variant.yaml}
  # One without code of its own names another's instrumentation: there is nothing to lay out.
  [ -f "$module/pom.xml" ] || continue
  variant="$app/$module"
  mkdir -p "$variant"
  : > "$variant/classpath"
  if [ -f "$module/jvm.options" ]; then
    cp -p "$module/jvm.options" "$module"/target/lib/*.jar "$variant/"
  elif [ -d "$module/target/lib" ]; then
    class_path "$module" > "$work/variant"
    { printf ':'; grep -vxF -f "$work/everywhere" "$work/variant" | paste -s -d :; } > "$variant/classpath"
  fi
done

case $(uname -m) in aarch64) platform=linux-arm64 ;; *) platform=linux-x64 ;; esac
services=$PWD
(cd "$work" && jar xf "$services/profiler/target/lib/async-profiler.jar" "$platform/libasyncProfiler.so")
install -D --mode=644 "$work/$platform/libasyncProfiler.so" "$app/profiler/libasyncProfiler.so"
rm -r "$work"
