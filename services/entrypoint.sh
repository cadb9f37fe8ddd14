#!/bin/sh
# Starts one service. KIND picks the program, TELEMETRY the variant: exactly its jars are put on the class path.
set -eu

# choice NAME VALUE FOLDER: is there a VALUE in FOLDER? If not, one line that names what there is, the nearest first.
choice() {
  [ -n "$2" ] && [ -d "$3/$2" ] && return
  ls "$3" | awk -v name="$1" -v given="$2" '
    function distance(a, b,    i, j, row, diagonal, above, cost) {   # Levenshtein
      for (j = 0; j <= length(b); j++) row[j] = j
      for (i = 1; i <= length(a); i++) {
        diagonal = row[0]; row[0] = i
        for (j = 1; j <= length(b); j++) {
          above = row[j]
          cost = diagonal + (substr(a, i, 1) != substr(b, j, 1))
          if (above + 1 < cost) cost = above + 1
          if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1
          row[j] = cost; diagonal = above
        }
      }
      return row[length(b)]
    }
    { d = distance(given, $0); if (NR == 1 || d < least) { least = d; nearest = $0 } all = all (NR > 1 ? ", " : "") $0 }
    END { printf "tollbooth: %s: there is no \"%s\"; did you mean \"%s\"? There is: %s\n", name, given, nearest, all }' >&2
  exit 2
}

kind=${KIND:-}
export TELEMETRY="${TELEMETRY:-baseline}"
choice KIND "$kind" /app/kinds
choice TELEMETRY "$TELEMETRY" /app/telemetry

# The program's jars first, always in the same order: the shared class archive is only used when the class path begins
# with the one it was made with.
variant="/app/telemetry/$TELEMETRY"
class_path="$(cat "/app/kinds/$kind/classpath")"
if grep -qs svc-b "${TOPOLOGY_FILE:-/etc/tollbooth/topology.yaml}"; then
  # gRPC is spoken in this topology. svc-b brings all it needs for that; the others carry it here only.
  [ "$kind" = svc-b ] || class_path="$class_path$(cat /app/grpc/classpath)"
  class_path="$class_path$(cat "$variant/grpc")"
fi
class_path="$class_path$(cat "$variant/classpath")"

# Half of the container's memory is heap; the rest is for classes, code, threads and, in some variants, an agent.
set -- -XX:MaxRAMPercentage=50
options="$variant/jvm.options"
archive="/app/kinds/$kind/classes.jsa"
if [ -f "$options" ]; then
  # An agent may rewrite any class as it is loaded: with one the JVM takes no archive of linked classes.
  set -- "$@" "@$options"
elif [ -f "$archive" ]; then
  set -- "$@" -XX:SharedArchiveFile="$archive"
fi
# JAVA_OPTS is split at spaces on purpose.
# shellcheck disable=SC2086
exec java "$@" ${JAVA_OPTS:-} -cp "$class_path" "tollbooth.$(echo "$kind" | tr -d -).Application"
