package git

import (
	"bytes"
	"cmp"
	"crypto/sha1" //nolint:gosec // that is how git checks an index
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// indexEntry is one path of an index.
type indexEntry struct {
	Entry
	path                       string
	conflict                   bool // one of several versions that a merge left
	assumed, skipped, intended bool // assume-unchanged, skip-worktree, intent-to-add
}

// errIndexFormat means that git must be asked about an index: it is split or sparse, of
// SHA-256, or has no checksum.
var errIndexFormat = errors.New("an index of another format")

// indexHeader is the size of an index's header and of an extension's, 12 and 8 bytes; an
// entry has its mode, id, flags and name at these places. See gitformat-index(5).
const (
	indexHeader, extensionHeader          = 12, 8
	atMode, atID, atFlags, atMore, atName = 24, 40, 60, 62, 62
)

// readIndex reads the entries of an index file, which saves asking git.
func readIndex(file string) ([]indexEntry, error) {
	data, err := atomicfile.Read(file, atomicfile.Large)
	if err != nil {
		return nil, err
	}
	end := len(data) - sha1.Size
	if end < indexHeader || string(data[:4]) != "DIRC" {
		return nil, errIndexFormat
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if sum := sha1.Sum(data[:end]); !bytes.Equal(sum[:], data[end:]) || version < 2 || version > 4 || int(count) > end/atName { //nolint:gosec // see above
		return nil, errIndexFormat
	}
	entries, rest := make([]indexEntry, 0, count), data[indexHeader:end]
	var path []byte
	for range count {
		e, size := parseIndexEntry(rest, path, version)
		if size == 0 || size > len(rest) {
			return nil, errIndexFormat
		}
		path, rest = []byte(e.path), rest[size:]
		entries = append(entries, e)
	}
	for len(rest) >= extensionHeader {
		size := int(binary.BigEndian.Uint32(rest[4:])) + extensionHeader
		if rest[0] < 'A' || rest[0] > 'Z' || size > len(rest) {
			return nil, errIndexFormat
		}
		rest = rest[size:]
	}
	return entries, nil
}

// parseIndexEntry reads an entry, whose name in version 4 begins as the one before it. The
// size is 0 where it cannot be read.
func parseIndexEntry(data, before []byte, version uint32) (e indexEntry, size int) {
	if len(data) <= atName {
		return e, 0
	}
	flags, more, at := binary.BigEndian.Uint16(data[atFlags:]), uint16(0), atName
	if flags&0x4000 != 0 {
		more, at = binary.BigEndian.Uint16(data[atMore:]), atName+2
	}
	var common []byte
	if version == 4 {
		drop := -1
		for { // a number, seven bits a byte
			if at >= len(data) || drop > len(before) {
				return e, 0
			}
			b := data[at]
			drop, at = (drop+1)<<7|int(b&0x7f), at+1
			if b&0x80 == 0 {
				break
			}
		}
		if drop > len(before) {
			return e, 0
		}
		common = before[:len(before)-drop]
	}
	name, _, ended := bytes.Cut(data[at:], []byte{0})
	if !ended {
		return e, 0
	}
	size = at + len(name) + 1
	if version != 4 {
		size = (at + len(name) + 8) / 8 * 8
	}
	mode := binary.BigEndian.Uint32(data[atMode:])
	return indexEntry{
		Entry:   Entry{Mode: modeText(mode), ID: hex.EncodeToString(data[atID:atFlags])},
		path:    string(common) + string(name),
		assumed: flags&0x8000 != 0, conflict: flags&0x3000 != 0,
		skipped: more&0x4000 != 0, intended: more&0x2000 != 0,
	}, size
}

// modeText is a mode as git prints it.
func modeText(mode uint32) string {
	if mode == 0o100644 {
		return "100644" // nearly always
	}
	return fmt.Sprintf("%06o", mode)
}

// encodeIndex makes an index file of entries of which git knows no file yet.
func encodeIndex(entries map[string]Entry) []byte {
	data := append([]byte("DIRC"), 0, 0, 0, 2)
	data = binary.BigEndian.AppendUint32(data, uint32(len(entries))) //nolint:gosec // a few
	for _, path := range slices.Sorted(maps.Keys(entries)) {
		entry := make([]byte, (atName+len(path)+8)/8*8)
		mode, _ := strconv.ParseUint(entries[path].Mode, 8, 32)
		binary.BigEndian.PutUint32(entry[atMode:], uint32(mode))
		_, _ = hex.Decode(entry[atID:atFlags], []byte(entries[path].ID))
		binary.BigEndian.PutUint16(entry[atFlags:], uint16(min(len(path), 0xfff))) //nolint:gosec // see above
		copy(entry[atName:], path)
		data = append(data, entry...)
	}
	sum := sha1.Sum(data) //nolint:gosec // see above
	return append(data, sum[:]...)
}

// spliceIndex takes from an index the entries whose paths are replaced, and adds those of
// another. What git derived from the entries (extensions) is left out.
func spliceIndex(data, add []byte, replaced func(path string) bool) ([]byte, error) {
	kept, err := rawEntries(data)
	if err != nil {
		return nil, err
	}
	added, err := rawEntries(add)
	if err != nil {
		return nil, err
	}
	kept = slices.DeleteFunc(kept, func(e rawEntry) bool { return replaced(e.path) })
	all := slices.Concat(kept, added)
	slices.SortFunc(all, func(a, b rawEntry) int { return cmp.Compare(a.path, b.path) })
	out := make([]byte, 0, len(data)+len(add))
	out = append(out, data[:8]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(all))) //nolint:gosec // as many as there were, and a few
	for _, e := range all {
		out = append(out, e.data...)
	}
	sum := sha1.Sum(out) //nolint:gosec // see above
	return append(out, sum[:]...), nil
}

// rawEntry is an entry as an index file has it.
type rawEntry struct {
	path string
	data []byte
}

// rawEntries are those of an index of version 2 or 3, one for each path.
func rawEntries(data []byte) ([]rawEntry, error) {
	end := len(data) - sha1.Size
	if end < indexHeader || string(data[:4]) != "DIRC" || data[7] != 2 && data[7] != 3 {
		return nil, errIndexFormat
	}
	count, rest := int(binary.BigEndian.Uint32(data[8:])), data[indexHeader:end]
	if count > end/atName {
		return nil, errIndexFormat
	}
	entries := make([]rawEntry, 0, count)
	for range count {
		if len(rest) <= atName {
			return nil, errIndexFormat
		}
		at := atName
		if flags := binary.BigEndian.Uint16(rest[atFlags:]); flags&0x3000 != 0 {
			return nil, errIndexFormat
		} else if flags&0x4000 != 0 {
			at += 2
		}
		length := bytes.IndexByte(rest[at:], 0)
		size := (at + length + 8) / 8 * 8
		if length < 0 || size > len(rest) {
			return nil, errIndexFormat
		}
		entries = append(entries, rawEntry{string(rest[at : at+length]), rest[:size]})
		rest = rest[size:]
	}
	return entries, nil
}

// indexLength is the number of entries of an index file, 0 where that cannot be told.
func indexLength(file string) int { return indexField(file, 8) }

// indexVersion is the version of an index file, 0 where that cannot be told.
func indexVersion(file string) int { return indexField(file, 4) }

// indexField is a number in the header of an index file.
func indexField(file string, at int) int {
	f, err := atomicfile.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	header := make([]byte, indexHeader)
	if _, err := io.ReadFull(f, header); err != nil {
		return 0
	}
	return int(binary.BigEndian.Uint32(header[at:]))
}
