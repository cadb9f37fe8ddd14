#!/bin/sh
# archive.sh: makes the shared class archive of each program, from what it loads until it is ready. Runs in the image, with
# the very JVM and class path that use the archive later.
set -eu
for kind in gateway svc-a svc-b; do
  # Each has a peer, as it then loads its client, too. Who does not speak gRPC by itself has none that does: with one its
  # class path would be longer than in most topologies.
  service=$kind
  [ "$kind" != gateway ] || service=svc-a
  cat > /tmp/topology.yaml <<TOPOLOGY
format: tollbooth.topology
version: 1
entry: gateway
nodes:
  gateway: {kind: gateway, routes: {peer: peer.answer}}
  $service: {kind: $service, operations: {work: {calls: [{to: [peer.answer]}]}}}
  peer: {kind: $service, operations: {answer: {}}}
TOPOLOGY
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
