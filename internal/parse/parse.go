// Package parse reads the few text shapes that the kernel's counter files come in, without allocating.
package parse

import "bytes"

// NsPerTick is the kernel's unit for most times: USER_HZ is 100 per second on every architecture that Docker runs on.
const NsPerTick = 10_000_000

// Count is a counter that this kernel may not offer. The zero value is "not offered".
type Count struct {
	Value uint64
	Known bool
}

// Known returns a counter with a value.
func Known(value uint64) Count { return Count{Value: value, Known: true} }

// Times returns the counter in a unit that is factor times finer; a counter that is not offered stays not offered.
func (c Count) Times(factor uint64) Count {
	c.Value *= factor
	return c
}

// Uint reads the decimal number at the start of text, after blanks. Known is false if there is none.
func Uint(text []byte) Count {
	text = trimBlanks(text)
	var value uint64
	digits := 0
	for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
		value = value*10 + uint64(text[digits]-'0')
		digits++
	}
	return Count{Value: value, Known: digits > 0}
}

// Field reads the number after key in a file of lines "key value". A key that ends in a colon is given with it.
func Field(text []byte, key string) Count {
	for line, rest := Line(text); line != nil; line, rest = Line(rest) {
		if len(line) > len(key) && isBlank(line[len(key)]) && string(line[:len(key)]) == key {
			return Uint(line[len(key):])
		}
	}
	return Count{}
}

// Line cuts the first line off text. The line is nil at the end of text.
func Line(text []byte) (line, rest []byte) {
	if len(text) == 0 {
		return nil, nil
	}
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		return text[:end:end], text[end+1:]
	}
	return text, nil
}

// CountLines returns the number of lines in text, whose last line ends like the others.
func CountLines(text []byte) uint64 { return uint64(bytes.Count(text, []byte{'\n'})) }

// Word cuts the first word off a line. The word is empty at the end of the line.
func Word(line []byte) (word, rest []byte) {
	line = trimBlanks(line)
	end := 0
	for end < len(line) && !isBlank(line[end]) {
		end++
	}
	return line[:end], line[end:]
}

func trimBlanks(text []byte) []byte {
	for len(text) > 0 && isBlank(text[0]) {
		text = text[1:]
	}
	return text
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
