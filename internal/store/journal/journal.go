// Package journal is an append-only file of records, one JSON object a line,
// from which all else about a loop is derived:
//
//	{"seq":2,"at":"2026-01-31T09:00:00.5Z","prev":"9f2c…","epoch":1,"type":"turn_ended","data":{…}}
//
// prev is the SHA-256 of the line before, so that Verify finds any line that was
// changed, lost or put in. epoch counts the owners: a Writer whose epoch is no
// longer the newest gets ErrLostOwnership. Append returns when the record is on
// disk. What a crash leaves half-written at the end is cut off by the next Open,
// kept in a file beside the journal, and told in a "journal_torn" record; a bad
// line elsewhere is a *CorruptError, and is never removed. A record of a newer
// Pawl's is ErrNewer to readers and writers: what it means is not known here.
//
// Reading needs no lock, keeps one line in memory, and can begin at any Mark, so
// a long history costs nothing to whoever has a snapshot of its past.
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/failure"
)

// MaxRecord is the longest line in bytes. Append refuses longer ones and readers
// take them for corrupt, which bounds the memory of both.
const MaxRecord = 8 << 20

// TornType is the type of the record that tells of a half-written end that was cut
// off; its data is a TornData.
const TornType = "journal_torn"

// TornData says what was cut off and where it was saved.
type TornData struct {
	Bytes int64  `json:"bytes"`
	File  string `json:"file"` // name of the file beside the journal
}

// Errors that callers tell apart.
var (
	// ErrGone: the journal is no longer at its path.
	ErrGone = errors.New("it was moved or deleted")
	// ErrLostOwnership: the journal holds a newer epoch, this owner must stop.
	ErrLostOwnership = errors.New("another process has taken over the loop")
	// ErrMarkNotFound: the journal is not the one, or no longer the one, that a Mark was taken of.
	ErrMarkNotFound = errors.New("the journal lacks the marked record")
	// ErrNewer: a newer Pawl has written it.
	ErrNewer = errors.New("a newer pawl wrote this loop")
)

// Record is one line. Types and data belong to whoever appends.
type Record struct {
	Seq   int64     `json:"seq"`  // 1, 2, 3 …
	At    time.Time `json:"at"`   // when it was appended, UTC
	Prev  string    `json:"prev"` // hex SHA-256 of the line before, without its newline; "" for the first
	Epoch int64     `json:"epoch"`
	// Version is that of the Pawl that wrote the record, see the constant.
	Version int             `json:"v,omitempty"`
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data,omitempty"`
	Mark    Mark            `json:"-"` // where it stands, to begin reading behind it
}

// Mark is the position of a record in its file. The zero Mark precedes the first record.
type Mark struct {
	Seq   int64  `json:"seq"`
	Start int64  `json:"start"` // offset of the line in bytes
	End   int64  `json:"end"`   // offset behind its newline
	Hash  string `json:"hash"`  // hex SHA-256 of the line
}

// Entry is what a caller appends.
type Entry struct {
	Type string
	Data any // marshalled to JSON; nil for none
}

// CorruptError names the first corrupt record.
type CorruptError struct {
	Path   string
	Seq    int64 // of the record, as far as it can be told
	Offset int64 // of the line where it was noticed, in bytes
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("journal %s is damaged at record %d (byte %d): %s", e.Path, e.Seq, e.Offset, e.Reason)
}

// encode returns the line of a record with its newline, and sets its Mark after the mark of the
// record before.
func encode(r *Record, before Mark) ([]byte, error) {
	line, err := atomicfile.EncodeJSON(r)
	if err != nil {
		return nil, err
	}
	if len(line) > MaxRecord {
		return nil, fmt.Errorf("record of %d bytes is longer than %d", len(line), MaxRecord)
	}
	r.Mark = mark(r.Seq, before.End, line[:len(line)-1])
	return line, nil
}

// decode decodes a line without its newline, which begins at offset start.
func decode(line []byte, start int64) (Record, error) {
	var r Record
	err := json.Unmarshal(line, &r)
	if newer := CheckVersion(r.Version, fmt.Sprintf("record %d", r.Seq)); newer != nil { // also where the rest has another shape
		return Record{}, newer
	}
	if err != nil {
		return Record{}, err
	}
	if r.Seq < 1 || r.Type == "" {
		return Record{}, errors.New("not a record")
	}
	r.Mark = mark(r.Seq, start, line)
	return r, nil
}

func mark(seq, start int64, line []byte) Mark {
	sum := sha256.Sum256(line)
	return Mark{Seq: seq, Start: start, End: start + int64(len(line)) + 1, Hash: hex.EncodeToString(sum[:])}
}

// marshalData returns an entry's data as it is written into the line.
func marshalData(data any) (json.RawMessage, error) {
	if data == nil {
		return nil, nil
	}
	text, err := atomicfile.EncodeJSON(data)
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// Version is the version of what is written of a loop: its spec and the records of
// its journal. A change that an older Pawl would misread raises it; a field that an
// older one may overlook does not. What was written before versions were has 0.
const Version = 3

// CheckVersion returns an error with a hint if something was written in a version
// that this Pawl does not read. what names it.
func CheckVersion(version int, what string) error {
	if version <= Version {
		return nil
	}
	return failure.New(failure.Usage, "update pawl, or use the version that began this loop",
		"%w: %s has format %d, this pawl reads up to %d", ErrNewer, what, version, Version)
}
