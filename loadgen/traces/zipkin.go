package main

import (
	"encoding/hex"
	"strconv"
)

// encodeZipkin makes the body a list of Zipkin's v2 spans in JSON, with one client's spans of the traces. It returns how many
// they are. Format: https://zipkin.io/zipkin-api/#/default/post_spans
func encodeZipkin(b *body, traces []trace, client int) (spans int) {
	list := append(b.buffer[:0], '[')
	for t := range traces {
		for i := range traces[t].spans {
			if traces[t].spans[i].client != client || i == traces[t].missing {
				continue
			}
			if spans > 0 {
				list = append(list, ',')
			}
			list = appendZipkinSpan(list, &traces[t], i)
			spans++
		}
	}
	b.buffer, b.at = append(list, ']'), 0
	return spans
}

func appendZipkinSpan(list []byte, t *trace, index int) []byte {
	s := &t.spans[index]
	list = append(list, `{"traceId":"`...)
	list = hex.AppendEncode(list, t.id[:])
	list = append(list, `","id":"`...)
	list = hex.AppendEncode(list, s.id[:])
	if s.parent == none {
		list = append(list, `","kind":"SERVER`...)
	} else {
		list = append(list, `","parentId":"`...)
		list = hex.AppendEncode(list, t.spans[s.parent].id[:])
	}
	list = append(list, `","name":"`...)
	list = append(list, spanNames[index%len(spanNames)]...)
	list = append(list, `","timestamp":`...)
	list = strconv.AppendInt(list, (t.begin+s.start.Nanoseconds())/1000, 10)
	list = append(list, `,"duration":`...)
	list = strconv.AppendInt(list, max(1, (s.end-s.start).Microseconds()), 10) // Zipkin takes no 0
	list = append(list, `,"localEndpoint":{"serviceName":"`...)
	list = append(list, services[s.client]...)
	list = append(list, `"},"tags":{`...)
	list = appendTags(list, t, index)
	return append(list, "}}"...)
}

// appendTags appends the same attributes as those of an OTLP span.
func appendTags(list []byte, t *trace, index int) []byte {
	seed := t.values + uint64(index)<<32
	begin := len(list)
	for a := range t.attributes {
		list = appendTag(list, attributeKeys[a], t.attributeBytes, seed+uint64(a))
	}
	if index == t.risky {
		list = appendTag(list, riskyKey, riskyBytes, seed+uint64(t.attributes))
	}
	if index == t.failed {
		list = append(list, `"error":"true",`...)
	}
	if len(list) > begin {
		list = list[:len(list)-1] // the last comma
	}
	return list
}

func appendTag(list []byte, key string, length int, seed uint64) []byte {
	list = append(list, '"')
	list = append(list, key...)
	list = append(list, `":"`...)
	begin := len(list)
	list = append(list, make([]byte, length)...)
	fillLetters(list[begin:], seed)
	return append(list, `",`...)
}
