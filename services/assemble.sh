#!/bin/sh
# assemble.sh FOLDER: writes the built jars and class paths to FOLDER, as the image needs them.
#   lib/                       the jars of all class paths, each once
#   kinds/<kind>/classpath     a program's class path, in order
#   grpc/classpath             added to a program without gRPC of its own that calls a node by gRPC
#   telemetry/<v>/classpath    added by a variant
#   telemetry/<v>/grpc         added by a variant too, in a topology with gRPC
#   telemetry/<v>/jvm.options  a variant's JVM options; the jars they name are in the same folder
#   profiler/                  async-profiler's native library
# An added class path starts with a colon or is empty.
set -eu
app=$1
# A kind of node is a module with a class Application.
kinds=
for program in */src/main/java/tollbooth/*/Application.java; do
  kinds="$kinds ${program%%/*}"
done
work=$(mktemp -d)
mkdir -p "$app/lib"

# class_path MODULE: copies the module's jars and prints its class path, one entry a line, its own jar (if any) first.
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

# What every program already has; the starters of variants depend on it again.
(cd "$work" && sort $kinds) | uniq -c | awk -v kinds="$(echo "$kinds" | wc -w)" '$1 == kinds { print $2 }' > "$work/everywhere"

# added FILE...: prints the entries of the class path on standard input that are in none of the files.
added() {
  sort "$@" > "$work/known"
  grep -vxF -f "$work/known" | paste -s -d : | sed '/./s/^/:/'
}

mkdir -p "$app/grpc"
class_path grpc > "$work/grpc"
added "$work/everywhere" < "$work/grpc" > "$app/grpc/classpath"

for file in telemetry/*/variant.yaml; do
  module=${file%/variant.yaml}
  # A variant without a module uses the instrumentation of another one.
  [ -f "$module/pom.xml" ] || continue
  variant="$app/$module"
  mkdir -p "$variant"
  : > "$variant/classpath"
  : > "$variant/grpc"
  if [ -f "$module/jvm.options" ]; then
    cp -p "$module/jvm.options" "$module"/target/lib/*.jar "$variant/"
  elif [ -f "$module/target/classpath" ]; then
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
