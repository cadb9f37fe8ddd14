#!/bin/sh
# archive.sh: makes the shared class archive of each program from the classes it loads until it is ready. Runs in the image,
# with the JVM and class path that use the archive later.
set -eu
for folder in /app/kinds/*; do
  kind=${folder##*/}
  # Every program calls a peer, so that it loads its client too. The gateway's peer is called by REST: gRPC would make its
  # class path longer than it is in most topologies.
  service=$kind
  [ "$kind" != gateway ] || service=svc-a
  cat > /tmp/topology.json <<TOPOLOGY
{
  "format": "tollbooth.resolved-topology",
  "version": 1,
  "nodes": {
    "gateway": {"kind": "gateway", "routes": {"peer": "peer.answer"}, "operations": {}},
    "$service": {"kind": "$service", "routes": {}, "operations": {
      "work": {"latency_ns": 0, "error_probability": 0, "stages": [["peer.answer"]]}
    }},
    "peer": {"kind": "$service", "routes": {}, "operations": {
      "answer": {"latency_ns": 0, "error_probability": 0, "stages": []}
    }}
  }
}
TOPOLOGY
  list="/tmp/$kind.classes"
  archive="$folder/classes.jsa"
  start() {
    KIND=$kind NODE=$kind TOPOLOGY_FILE=/tmp/topology.json JAVA_OPTS="-XX:+UseSerialGC $1" /app/entrypoint.sh
  }
  start "-XX:DumpLoadedClassList=$list -Dspring.context.exit=onRefresh"
  start "-Xshare:dump -XX:SharedClassListFile=$list -XX:SharedArchiveFile=$archive -XX:+AOTClassLinking -Xlog:disable -Xlog:all=error"
  test -s "$archive"
done
rm -r /tmp/*
