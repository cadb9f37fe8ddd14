#!/bin/sh
# assemble.sh FOLDER: lays the built jars out as the image has them.
#   lib/                       the jars of every class path, each once
#   kinds/<kind>/classpath     a program's class path, in order
#   grpc/classpath             what a program that does not speak gRPC by itself needs to ask one that does
#   telemetry/<v>/classpath    what a variant adds to it
#   telemetry/<v>/grpc         what a variant adds besides, where gRPC is spoken
#   telemetry/<v>/jvm.options  options that a variant needs, with the jars that they name beside it
#   profiler/                  async-profiler's native library
# What is added has a colon before, or is empty.
set -eu
app=$1
kinds="gateway svc-a svc-b"
work=$(mktemp -d)
mkdir -p "$app/lib"

# class_path MODULE: copies the module's jars, prints its class path a line each, its own jar (if it has code) first.
class_path() {
  for jar in "$1"/target/lib/*.jar; do
    [ ! -f "$jar" ] || cp -p "$jar" "$app/lib/"
  done
  for jar in "$1"/target/*.jar; do
    case $jar in *"*.jar" | *-tests.jar) continue ;; esac
    cp -p "$jar" "$app/lib/"
    echo "/app/lib/${jar##*/}"
  done
  tr : '\n' < "$1/target/classpath" | sed '/./!d'
}

for kind in $kinds; do
  mkdir -p "$app/kinds/$kind"
  class_path "$kind" > "$work/$kind"
  paste -s -d : "$work/$kind" > "$app/kinds/$kind/classpath"
done

# What every program brings by itself; a starter asks for it once more.
(cd "$work" && sort $kinds) | uniq -c | awk -v kinds="$(echo "$kinds" | wc -w)" '$1 == kinds { print $2 }' > "$work/everywhere"

# added FILE...: what a class path (read from the standard input) adds to those of the files.
added() {
  sort "$@" > "$work/known"
  grep -vxF -f "$work/known" | paste -s -d : | sed '/./s/^/:/'
}

mkdir -p "$app/grpc"
class_path grpc > "$work/grpc"
added "$work/everywhere" < "$work/grpc" > "$app/grpc/classpath"

for file in telemetry/*/variant.yaml; do
  module=${file%/variant.yaml}
  # One without code of its own names another's instrumentation: there is nothing to lay out.
  [ -f "$module/pom.xml" ] || continue
  variant="$app/$module"
  mkdir -p "$variant"
  : > "$variant/classpath"
  : > "$variant/grpc"
  if [ -f "$module/jvm.options" ]; then
    cp -p "$module/jvm.options" "$module"/target/lib/*.jar "$variant/"
  elif [ -d "$module/target/lib" ]; then
    class_path "$module" > "$work/variant"
    added "$work/everywhere" < "$work/variant" > "$variant/classpath"
  fi
  if [ -f "$module/grpc/target/classpath" ]; then
    class_path "$module/grpc" > "$work/variant-grpc"
    added "$work/everywhere" "$work/grpc" "$work/variant" < "$work/variant-grpc" > "$variant/grpc"
  fi
done

case $(uname -m) in aarch64) platform=linux-arm64 ;; *) platform=linux-x64 ;; esac
services=$PWD
(cd "$work" && jar xf "$services/profiler/target/lib/async-profiler.jar" "$platform/libasyncProfiler.so")
install -D --mode=644 "$work/$platform/libasyncProfiler.so" "$app/profiler/libasyncProfiler.so"
rm -r "$work"
