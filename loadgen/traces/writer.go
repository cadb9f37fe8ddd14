package main

import (
	"encoding/binary"
	"math/bits"
)

// writer writes a protobuf message from its end to its begin, as pdata does: the length of what is nested is then known
// where it is written. Before what it writes, room has to be made.
type writer struct {
	buffer []byte
	at     int // where the message begins so far
}

// reset begins an empty message.
func (w *writer) reset() { w.at = len(w.buffer) }

// bytes is the message, valid until the next call.
func (w *writer) bytes() []byte { return w.buffer[w.at:] }

// written is how many bytes the message has.
func (w *writer) written() int { return len(w.buffer) - w.at }

// room makes room for so many more bytes.
func (w *writer) room(bytes int) {
	if w.at >= bytes {
		return
	}
	larger := make([]byte, 2*len(w.buffer)+bytes)
	at := len(larger) - w.written()
	copy(larger[at:], w.bytes())
	w.buffer, w.at = larger, at
}

func (w *writer) byte(value byte) {
	w.at--
	w.buffer[w.at] = value
}

func (w *writer) varint(value uint64) {
	if value < 0x80 {
		w.byte(byte(value))
		return
	}
	w.at -= (bits.Len64(value) + 6) / 7
	binary.PutUvarint(w.buffer[w.at:], value)
}

func (w *writer) fixed64(tag byte, value uint64) {
	w.at -= 8
	binary.LittleEndian.PutUint64(w.buffer[w.at:], value)
	w.byte(tag)
}

func (w *writer) text(tag byte, value string) {
	w.at -= len(value)
	copy(w.buffer[w.at:], value)
	w.varint(uint64(len(value)))
	w.byte(tag)
}

func (w *writer) raw(tag byte, value []byte) {
	w.at -= len(value)
	copy(w.buffer[w.at:], value)
	w.varint(uint64(len(value)))
	w.byte(tag)
}

// letters writes so many letters from a to p, which follow from the seed.
func (w *writer) letters(tag byte, length int, seed uint64) {
	w.at -= length
	fillLetters(w.buffer[w.at:w.at+length], seed)
	w.varint(uint64(length))
	w.byte(tag)
}

// enclose makes a field of what was written since the message had so many bytes.
func (w *writer) enclose(tag byte, before int) {
	w.varint(uint64(w.written() - before))
	w.byte(tag)
}

func fillLetters(into []byte, seed uint64) {
	var eight [8]byte
	for len(into) > 0 {
		seed = mixed(seed)
		binary.LittleEndian.PutUint64(eight[:], seed&0x0f0f0f0f0f0f0f0f+0x6161616161616161)
		into = into[copy(into, eight[:]):]
	}
}
