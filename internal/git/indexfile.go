package git

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

// indexEntry is one path of an index.
type indexEntry struct {
	path string
	data string // as the file has it; in version 4 with only the end of the path
}

// entry returns the tree entry of an index entry.
func (e indexEntry) entry() Entry {
	mode := binary.BigEndian.Uint32([]byte(e.data[atMode:atID]))
	return Entry{Mode: modeText(mode), ID: hex.EncodeToString([]byte(e.data[atID:atFlags]))}
}

// isConflict reports whether it is one of several versions that a merge left.
func (e indexEntry) isConflict() bool { return e.data[atFlags]&0x30 != 0 }

// isAssumed, isSkipped and isIntended report the marks assume-unchanged, skip-worktree and
// intent-to-add.
func (e indexEntry) isAssumed() bool  { return e.data[atFlags]&0x80 != 0 }
func (e indexEntry) isSkipped() bool  { return e.isExtended() && e.data[atMore]&0x40 != 0 }
func (e indexEntry) isIntended() bool { return e.isExtended() && e.data[atMore]&0x20 != 0 }
func (e indexEntry) isExtended() bool { return e.data[atFlags]&0x40 != 0 }

func (e indexEntry) isSubmodule() bool { return e.data[atMode+2]&0xf0 == 0xe0 } // 160000

// errIndexFormat means that git must be asked about an index: it is split or sparse, of
// SHA-256, or has no checksum.
var errIndexFormat = errors.New("an index of another format")

// indexHeader is the size of an index's header and of an extension's, 12 and 8 bytes; an
// entry has its mode, id, flags and name at these places. See gitformat-index(5).
const (
	indexHeader, extensionHeader          = 12, 8
	atMode, atID, atFlags, atMore, atName = 24, 40, 60, 62, 62
)

// readIndex reads the entries of an index file, which saves asking git. They are sorted by
// path.
func readIndex(file string) ([]indexEntry, error) {
	data, err := atomicfile.Read(file, atomicfile.Large)
	if err != nil {
		return nil, err
	}
	end := len(data) - sha1.Size
	if end < indexHeader {
		return nil, errIndexFormat
	}
	if sum := sha1.Sum(data[:end]); !bytes.Equal(sum[:], data[end:]) { //nolint:gosec // see above
		return nil, errIndexFormat
	}
	_, entries, err := parseIndex(data)
	return entries, err
}

// parseIndex reads the content of an index file, but for its checksum.
func parseIndex(data []byte) (version uint32, entries []indexEntry, err error) {
	end := len(data) - sha1.Size
	if end < indexHeader || string(data[:4]) != "DIRC" {
		return 0, nil, errIndexFormat
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 || int(count) > end/atName {
		return 0, nil, errIndexFormat
	}
	entries = make([]indexEntry, 0, count)
	rest, path := string(data[indexHeader:end]), "" // one copy, of which the entries are parts
	for range count {
		e, ok := parseIndexEntry(rest, path, version)
		if !ok {
			return 0, nil, errIndexFormat
		}
		path, rest = e.path, rest[len(e.data):]
		entries = append(entries, e)
	}
	for len(rest) >= extensionHeader {
		size := int(binary.BigEndian.Uint32([]byte(rest[4:extensionHeader]))) + extensionHeader
		if rest[0] < 'A' || rest[0] > 'Z' || size > len(rest) {
			return 0, nil, errIndexFormat
		}
		rest = rest[size:]
	}
	return version, entries, nil
}

// parseIndexEntry reads an entry, whose name in version 4 begins as the one before it. It is
// false where it cannot be read.
func parseIndexEntry(data, before string, version uint32) (e indexEntry, ok bool) {
	if len(data) < atMore+2 {
		return e, false
	}
	at := atName
	if (indexEntry{data: data}).isExtended() {
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
	return indexEntry{common + data[at:at+length], data[:size]}, true
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

// spliceIndex takes from an index the entries of these paths (files or folders), and adds
// those of another. What git derived from the entries (extensions) is left out. Both are of
// version 2 or 3, with one entry for each path.
func spliceIndex(data, add []byte, paths []string) ([]byte, error) {
	version, entries, err := parseIndex(data)
	addVersion, added, errAdd := parseIndex(add)
	if err = errors.Join(err, errAdd); err != nil {
		return nil, err
	}
	if version > 3 || addVersion > 3 || slices.ContainsFunc(entries, indexEntry.isConflict) {
		return nil, errIndexFormat
	}
	out := make([]byte, indexHeader, len(data)+len(add))
	count := uint32(0)
	keep := func(e indexEntry) { out, count = append(out, e.data...), count+1 }
	gone := entriesAt(entries, paths)
	for i, e := range entries {
		for len(added) > 0 && added[0].path < e.path {
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

// entriesAt are the places of the entries with these paths, or below them.
func entriesAt(entries []indexEntry, paths []string) map[int]bool {
	found := map[int]bool{}
	for _, path := range paths {
		if i, there := findEntry(entries, path); there {
			found[i] = true
		}
		for i, _ := findEntry(entries, path+"/"); i < len(entries) && strings.HasPrefix(entries[i].path, path+"/"); i++ {
			found[i] = true
		}
	}
	return found
}

// findEntry returns the place of a path, the first of several.
func findEntry(entries []indexEntry, path string) (int, bool) {
	return slices.BinarySearchFunc(entries, path, func(e indexEntry, path string) int { return strings.Compare(e.path, path) })
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
