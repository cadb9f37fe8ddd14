#!/bin/sh
# Starts one service. KIND selects the program, TELEMETRY the variant: only its jars are on the class path.
set -eu

# choice NAME VALUE FOLDER: fails with one line unless FOLDER has an entry VALUE.
choice() {
  [ -n "$2" ] && [ -d "$3/$2" ] && return
  echo "tollbooth: $1: unknown value '$2'; available: $(cd "$3" && echo *)" >&2
  exit 2
}

class_archive=${CLASS_ARCHIVE:-on}
case $class_archive in
  on | off) ;;
  *)
    echo "tollbooth: CLASS_ARCHIVE: must be on or off, not '$class_archive'" >&2
    exit 2
    ;;
esac

kind=${KIND:-}
export TELEMETRY="${TELEMETRY:-baseline}"
choice KIND "$kind" /app/kinds
choice TELEMETRY "$TELEMETRY" /app/telemetry

# The program's jars come first, always in the same order: the JVM uses the shared class archive only if the class path
# starts with the one that the archive was made with.
variant="/app/telemetry/$TELEMETRY"
class_path="$(cat "/app/kinds/$kind/classpath")"
# Does the topology have a node that is called by gRPC? In a resolved topology this can only be a node's kind.
if grep -qsE '"kind"[[:space:]]*:[[:space:]]*"svc-b"' "${TOPOLOGY_FILE:-/etc/tollbooth/topology.json}"; then
  # svc-b brings all that gRPC needs; the other programs get it here only.
  [ "$kind" = svc-b ] || class_path="$class_path$(cat /app/grpc/classpath)"
  class_path="$class_path$(cat "$variant/grpc")"
fi
class_path="$class_path$(cat "$variant/classpath")"

# Half of the container's memory is heap. The rest is for classes, code, threads and, in some variants, an agent.
# No thread that compiles or collects may end and take its CPU time with it: the observer counts it by thread.
set -- -XX:MaxRAMPercentage=50 -XX:-UseDynamicNumberOfCompilerThreads -XX:-UseDynamicNumberOfGCThreads
options="$variant/jvm.options"
archive="/app/kinds/$kind/classes.jsa"
if [ -f "$options" ]; then
  # An agent may rewrite any class when it is loaded, so the JVM uses no archive of linked classes with one.
  set -- "$@" "@$options"
elif [ -f "$archive" ] && [ "$class_archive" = on ]; then
  set -- "$@" -XX:SharedArchiveFile="$archive"
fi
# JAVA_OPTS is split at spaces on purpose.
# shellcheck disable=SC2086
exec java "$@" ${JAVA_OPTS:-} -cp "$class_path" "tollbooth.$(echo "$kind" | tr -d -).Application"
