package git

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // that is how git checks an index
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
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
