#!/bin/sh
# archive.sh: makes the shared class archive of each program, from what it loads until it is ready. Runs in the image, with
# the very JVM and class path that use the archive later.
set -eu
cat > /tmp/topology.yaml <<'TOPOLOGY'
format: tollbooth.topology
version: 1
entry: gateway
nodes:
  gateway: {kind: gateway, routes: {svc-a: svc-a.answer}}
  svc-a: {kind: svc-a, operations: {answer: {}}}
TOPOLOGY
for kind in gateway svc-a; do
  list="/tmp/$kind.classes"
  archive="/app/kinds/$kind/classes.jsa"
  start() {
    KIND=$kind NODE=$kind TOPOLOGY_FILE=/tmp/topology.yaml JAVA_OPTS="-XX:+UseSerialGC $1" /app/entrypoint.sh
  }
  start "-XX:DumpLoadedClassList=$list -Dspring.context.exit=onRefresh"
  start "-Xshare:dump -XX:SharedClassListFile=$list -XX:SharedArchiveFile=$archive -XX:+AOTClassLinking -Xlog:disable -Xlog:all=error"
  test -s "$archive"
done
rm -r /tmp/*
