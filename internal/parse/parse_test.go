package parse

import (
	"slices"
	"testing"
)

func TestUint(t *testing.T) {
	for text, want := range map[string]Count{
		"0\n":                    Known(0),
		"  42 rest":              Known(42),
		"18446744073709551615\n": Known(18446744073709551615),
		"max\n":                  {},
		"":                       {},
		"-1":                     {},
	} {
		if got := Uint([]byte(text)); got != want {
			t.Errorf("Uint(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestFieldMatchesWholeKeysAtTheStartOfALine(t *testing.T) {
	text := []byte("total_rss_huge 1\nx total_rss 2\ntotal_rss 3\nnonvoluntary_ctxt_switches:\t4\n")
	for key, want := range map[string]Count{
		"total_rss":                   Known(3),
		"total_rss_huge":              Known(1),
		"nonvoluntary_ctxt_switches:": Known(4),
		"voluntary_ctxt_switches:":    {},
		"total":                       {},
	} {
		if got := Field(text, key); got != want {
			t.Errorf("Field(%q) = %v, want %v", key, got, want)
		}
	}
}

func TestLinesAndWords(t *testing.T) {
	var words []string
	for line, rest := Line([]byte("a  b\n\n c")); line != nil; line, rest = Line(rest) {
		for word, tail := Word(line); len(word) > 0; word, tail = Word(tail) {
			words = append(words, string(word))
		}
		words = append(words, "|")
	}
	if want := []string{"a", "b", "|", "|", "c", "|"}; !slices.Equal(words, want) {
		t.Errorf("words are %q, want %q", words, want)
	}
}

func TestTimesKeepsUnknownUnknown(t *testing.T) {
	if got := (Count{}).Times(1000); got.Known {
		t.Errorf("an unknown counter became %v", got)
	}
	if got := Known(2).Times(1000); got != Known(2000) {
		t.Errorf("Known(2).Times(1000) = %v", got)
	}
}
