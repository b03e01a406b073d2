package indexfile

import (
	"strings"
	"testing"
)

// Package git holds what is read here to what git says of an index.
func FuzzParseEntry(f *testing.F) {
	data := Encode(map[string]Object{"a": {"100644", strings.Repeat("1", 40)}, "dir/b": {"100755", strings.Repeat("2", 40)}})
	f.Add(data[header:len(data)-20], uint32(2))
	f.Add([]byte(strings.Repeat("\x00", atName)+"\x04b\x00"), uint32(4))
	f.Fuzz(func(t *testing.T, data []byte, version uint32) {
		e, ok := parseEntry(string(data), "dir/name", version)
		if size := len(e.data); size > len(data) || ok && size <= len(e.Path)-len("dir/name") {
			t.Errorf("%d bytes of %d: %+v", size, len(data), e)
		}
	})
}
