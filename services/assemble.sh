#!/bin/sh
# assemble.sh FOLDER: lays the built jars out as the image has them.
#   lib/                       the jars of every class path, each once
#   kinds/<kind>/classpath     a program's class path, in order
#   telemetry/<v>/classpath    what a variant adds to it, with the colon before; empty for nothing
#   telemetry/<v>/jvm.options  options that a variant needs, with the jars that they name beside it
set -eu
app=$1
mkdir -p "$app/lib"

# class_path MODULE: copies the module's jars, prints its class path, its own jar first.
class_path() {
  jar=$(basename "$1"/target/*.jar)
  cp -p "$1/target/$jar" "$1"/target/lib/*.jar "$app/lib/"
  printf '/app/lib/%s:' "$jar"
  cat "$1/target/classpath"
}

for kind in gateway svc-a; do
  mkdir -p "$app/kinds/$kind"
  class_path "$kind" > "$app/kinds/$kind/classpath"
done

for module in telemetry/*; do
  variant="$app/$module"
  mkdir -p "$variant"
  : > "$variant/classpath"
  if [ -f "$module/jvm.options" ]; then
    cp -p "$module/jvm.options" "$module"/target/lib/*.jar "$variant/"
  elif [ -d "$module/target/lib" ]; then
    { printf ':'; class_path "$module"; } > "$variant/classpath"
  fi
done
