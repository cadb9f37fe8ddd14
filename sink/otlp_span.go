package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// Numbers of fields in opentelemetry/proto: trace/v1, resource/v1 and common/v1.
const (
	spanIDField, parentIDField, nameField, kindField = 2, 4, 5, 6
	startField, endField, spanAttributesField        = 7, 8, 9

	resourceField, resourceAttributesField = 1, 1
	keyField, valueField, stringValueField = 1, 2, 1
)

var otlpKinds = []string{"internal", "internal", "server", "client", "producer", "consumer"}

// decodeOTLP decodes a span that traceIDOf has walked over.
func decodeOTLP(service string, content []byte) (span, error) {
	s := span{Service: service, Kind: otlpKinds[0]}
	end := int64(0)
	err := eachKey(content, func(key uint64, value []byte) error {
		switch key {
		case spanIDField<<3 | lengthDelimited:
			s.ID = hex.EncodeToString(value)
		case parentIDField<<3 | lengthDelimited:
			if len(bytes.Trim(value, "\x00")) > 0 { // zeroes are no ID
				parent := hex.EncodeToString(value)
				s.Parent = &parent
			}
		case nameField<<3 | lengthDelimited:
			s.Name = string(value)
		case kindField<<3 | varint:
			kind, _ := binary.Uvarint(value)
			if kind >= uint64(len(otlpKinds)) {
				return errors.New("a span's kind is not one of OTLP's")
			}
			s.Kind = otlpKinds[kind]
		case startField<<3 | fixed64:
			s.StartNs = int64(binary.LittleEndian.Uint64(value))
		case endField<<3 | fixed64:
			end = int64(binary.LittleEndian.Uint64(value))
		case spanAttributesField<<3 | lengthDelimited:
			s.Tags++
		}
		return nil
	})
	s.DurationNs = end - s.StartNs
	return s, err
}

// serviceName returns a resource's attribute `service.name`, or "" where that cannot be read.
func serviceName(resourceSpans []byte) (name string) {
	_ = eachField(resourceSpans, resourceField, func(resource []byte) error {
		return eachField(resource, resourceAttributesField, func(attribute []byte) error {
			named := false
			if err := eachField(attribute, keyField, func(key []byte) error {
				named = string(key) == "service.name"
				return nil
			}); err != nil || !named {
				return err
			}
			return eachField(attribute, valueField, func(value []byte) error {
				return eachField(value, stringValueField, func(text []byte) error {
					name = string(text)
					return nil
				})
			})
		})
	})
	return name
}
