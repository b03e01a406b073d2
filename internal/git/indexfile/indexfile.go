// Package indexfile reads and writes git's index, the file .git/index, faster than a git
// command. See gitformat-index(5).
package indexfile

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // that is how git checks an index
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// Entry is one path of an index.
type Entry struct {
	Path string
	data string // as the file has it; in version 4 with only the end of the path
}

// Object is what a path holds.
type Object struct {
	Mode string // as git prints it: 100644, 160000 submodule
	ID   string // of the blob, or the submodule's commit
}

// Object returns what the path holds.
func (e Entry) Object() Object {
	mode := binary.BigEndian.Uint32([]byte(e.data[atMode:atID]))
	return Object{Mode: modeText(mode), ID: hex.EncodeToString([]byte(e.data[atID:atFlags]))}
}

// IsConflict reports whether it is one of several versions that a merge left.
func (e Entry) IsConflict() bool { return e.data[atFlags]&0x30 != 0 }

// IsAssumed reports the mark assume-unchanged.
func (e Entry) IsAssumed() bool { return e.data[atFlags]&0x80 != 0 }

// IsSkipped reports the mark skip-worktree.
func (e Entry) IsSkipped() bool { return e.isExtended() && e.data[atMore]&0x40 != 0 }

// IsIntended reports the mark intent-to-add.
func (e Entry) IsIntended() bool { return e.isExtended() && e.data[atMore]&0x20 != 0 }

func (e Entry) isExtended() bool { return e.data[atFlags]&0x40 != 0 }

// IsSubmodule reports whether the path is that of a submodule.
func (e Entry) IsSubmodule() bool { return e.data[atMode+2]&0xf0 == 0xe0 } // 160000

// ErrFormat means that git must be asked about an index: it is split or sparse, of
// SHA-256, or has no checksum.
var ErrFormat = errors.New("an index of another format")

// header and extensionHeader are sizes in bytes; an
// entry has its mode, id, flags and name at these places.
const (
	header, extensionHeader               = 12, 8
	atMode, atID, atFlags, atMore, atName = 24, 40, 60, 62, 62
)

// Read reads the entries of an index file, which saves asking git. They are sorted by
// path.
func Read(file string) ([]Entry, error) {
	data, err := atomicfile.Read(file, atomicfile.Large)
	if err != nil {
		return nil, err
	}
	end := len(data) - sha1.Size
	if end < header {
		return nil, ErrFormat
	}
	if sum := sha1.Sum(data[:end]); !bytes.Equal(sum[:], data[end:]) { //nolint:gosec // see above
		return nil, ErrFormat
	}
	_, entries, err := parse(data)
	return entries, err
}

// parse reads the content of an index file, but for its checksum.
func parse(data []byte) (version uint32, entries []Entry, err error) {
	end := len(data) - sha1.Size
	if end < header || string(data[:4]) != "DIRC" {
		return 0, nil, ErrFormat
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 || int(count) > end/atName {
		return 0, nil, ErrFormat
	}
	entries = make([]Entry, 0, count)
	rest, path := string(data[header:end]), "" // one copy, of which the entries are parts
	for range count {
		e, ok := parseEntry(rest, path, version)
		if !ok {
			return 0, nil, ErrFormat
		}
		path, rest = e.Path, rest[len(e.data):]
		entries = append(entries, e)
	}
	for len(rest) >= extensionHeader {
		size := int(binary.BigEndian.Uint32([]byte(rest[4:extensionHeader]))) + extensionHeader
		if rest[0] < 'A' || rest[0] > 'Z' || size > len(rest) {
			return 0, nil, ErrFormat
		}
		rest = rest[size:]
	}
	return version, entries, nil
}

// parseEntry reads an entry, whose name in version 4 begins as the one before it. It returns
// false if it cannot be read.
func parseEntry(data, before string, version uint32) (e Entry, ok bool) {
	if len(data) < atMore+2 {
		return e, false
	}
	at := atName
	if (Entry{data: data}).isExtended() {
		at = atMore + 2
	}
	common := ""
	if version == 4 {
		drop := -1
		for { // a number, seven bits a byte
			if at >= len(data) || drop > len(before) {
				return e, false
			}
			b := data[at]
			drop, at = (drop+1)<<7|int(b&0x7f), at+1
			if b&0x80 == 0 {
				break
			}
		}
		if drop > len(before) {
			return e, false
		}
		common = before[:len(before)-drop]
	}
	length := strings.IndexByte(data[at:], 0)
	size := at + length + 1
	if version != 4 {
		size = (at + length + 8) / 8 * 8
	}
	if length < 0 || size > len(data) {
		return e, false
	}
	return Entry{Path: common + data[at:at+length], data: data[:size]}, true
}

// modeText returns a mode as git prints it.
func modeText(mode uint32) string {
	if mode == 0o100644 {
		return "100644" // nearly always
	}
	return fmt.Sprintf("%06o", mode)
}

// Encode makes an index file of what paths hold, of which git knows no file yet.
func Encode[E ~struct{ Mode, ID string }](entries map[string]E) []byte {
	data := append([]byte("DIRC"), 0, 0, 0, 2)
	data = binary.BigEndian.AppendUint32(data, uint32(len(entries))) //nolint:gosec // a few
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		entry := make([]byte, (atName+len(path)+8)/8*8)
		mode, _ := strconv.ParseUint(Object(entries[path]).Mode, 8, 32)
		binary.BigEndian.PutUint32(entry[atMode:], uint32(mode))
		_, _ = hex.Decode(entry[atID:atFlags], []byte(Object(entries[path]).ID))
		binary.BigEndian.PutUint16(entry[atFlags:], uint16(min(len(path), 0xfff))) //nolint:gosec // see above
		copy(entry[atName:], path)
		data = append(data, entry...)
	}
	sum := sha1.Sum(data) //nolint:gosec // see above
	return append(data, sum[:]...)
}

// Splice takes from an index the entries of these paths (files or folders), and adds
// those of another. What git derived from the entries (extensions) is left out. Both are of
// version 2 or 3, with one entry for each path.
func Splice(data, add []byte, paths []string) ([]byte, error) {
	version, entries, err := parse(data)
	addVersion, added, errAdd := parse(add)
	if err = errors.Join(err, errAdd); err != nil {
		return nil, err
	}
	if version > 3 || addVersion > 3 || slices.ContainsFunc(entries, Entry.IsConflict) {
		return nil, ErrFormat
	}
	out := make([]byte, header, len(data)+len(add))
	count := uint32(0)
	keep := func(e Entry) { out, count = append(out, e.data...), count+1 }
	gone := entriesAt(entries, paths)
	for i, e := range entries {
		for len(added) > 0 && added[0].Path < e.Path {
			keep(added[0])
			added = added[1:]
		}
		if !gone[i] {
			keep(e)
		}
	}
	for _, e := range added {
		keep(e)
	}
	copy(out, data[:8])
	binary.BigEndian.PutUint32(out[8:], count)
	sum := sha1.Sum(out) //nolint:gosec // see above
	return append(out, sum[:]...), nil
}

// entriesAt returns the places of the entries with these paths, or below them.
func entriesAt(entries []Entry, paths []string) map[int]bool {
	found := map[int]bool{}
	for _, path := range paths {
		if i, there := Find(entries, path); there {
			found[i] = true
		}
		for i, _ := Find(entries, path+"/"); i < len(entries) && strings.HasPrefix(entries[i].Path, path+"/"); i++ {
			found[i] = true
		}
	}
	return found
}

// Find returns the place of a path, the first of several.
func Find(entries []Entry, path string) (int, bool) {
	return slices.BinarySearchFunc(entries, path, func(e Entry, path string) int { return strings.Compare(e.Path, path) })
}

// Length returns the number of entries of an index file, or 0 if it is unknown.
func Length(file string) int { return field(file, 8) }

// Version returns the version of an index file, or 0 if it is unknown.
func Version(file string) int { return field(file, 4) }

// field returns a number in the header of an index file.
func field(file string, at int) int {
	f, err := atomicfile.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	data := make([]byte, header)
	if _, err := io.ReadFull(f, data); err != nil {
		return 0
	}
	return int(binary.BigEndian.Uint32(data[at:]))
}
