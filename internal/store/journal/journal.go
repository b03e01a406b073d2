// Package journal implements an append-only file of records, one JSON object per line. All other data
// of a loop is derived from it:
//
//	{"seq":2,"at":"2026-01-31T09:00:00.5Z","prev":"9f2c…","epoch":1,"type":"turn_ended","data":{…}}
//
// prev is the SHA-256 of the previous line, so that Verify finds changed, missing and inserted lines.
// epoch counts the owners: a Writer with an old epoch gets ErrLostOwnership. Append returns when the
// record is on disk. Open moves an incomplete end, which a crash left, to a file beside the journal,
// and adds a "journal_torn" record. A bad line elsewhere is a *CorruptError and is never removed.
// Readers and writers get ErrNewer for a record of a newer Pawl.
//
// Reading needs no lock and keeps one line in memory. It can begin at any Mark, so a reader with a
// snapshot does not read the history before it.
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

// MaxRecord is the maximum length of a line in bytes. Append refuses longer ones, and readers treat
// them as corrupt. This limits the memory of both.
const MaxRecord = 8 << 20

// TornType is the type of the record about an incomplete end that was cut off; its data is a TornData.
const TornType = "journal_torn"

// TornData says what was cut off and where it was saved.
type TornData struct {
	Bytes int64  `json:"bytes"`
	File  string `json:"file"` // name of the file beside the journal
}

// Errors that callers distinguish.
var (
	// ErrGone means that the journal is no longer at its path.
	ErrGone = errors.New("it was moved or deleted")
	// ErrLostOwnership means that the journal has a newer epoch: this owner must stop.
	ErrLostOwnership = errors.New("another process has taken over the loop")
	// ErrMarkNotFound means that the journal does not have the record of a Mark.
	ErrMarkNotFound = errors.New("the journal lacks the marked record")
	// ErrNewer means that a newer Pawl wrote the journal.
	ErrNewer = errors.New("a newer pawl wrote this loop")
)

// Record is one line. The writer defines types and data.
type Record struct {
	Seq   int64     `json:"seq"`  // 1, 2, 3 …
	At    time.Time `json:"at"`   // time of appending, UTC
	Prev  string    `json:"prev"` // hex SHA-256 of the line before, without its newline; "" for the first
	Epoch int64     `json:"epoch"`
	// Version is the constant Version of the Pawl that wrote the record.
	Version int             `json:"v,omitempty"`
	Type    string          `json:"type"`
	Data    json.RawMessage `json:"data,omitempty"`
	Mark    Mark            `json:"-"` // its position, to read on after it
}

// Mark is the position of a record in its file. The zero Mark precedes the first record.
type Mark struct {
	Seq   int64  `json:"seq"`
	Start int64  `json:"start"` // offset of the line in bytes
	End   int64  `json:"end"`   // offset behind its newline
	Hash  string `json:"hash"`  // hex SHA-256 of the line
}

// Entry is a record to append.
type Entry struct {
	Type string
	Data any // marshalled to JSON; nil for none
}

// CorruptError names the first corrupt record.
type CorruptError struct {
	Path   string
	Seq    int64 // number of the record, if known
	Offset int64 // offset of the line that shows the damage, in bytes
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

// marshalData returns an entry's data in JSON, as in the line.
func marshalData(data any) (json.RawMessage, error) {
	if data == nil {
		return nil, nil
	}
	text, err := atomicfile.EncodeJSON(data)
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// Version is the version of the format of a loop's spec and journal. It increases with changes that an
// older Pawl would misread, but not with fields that an older one may ignore. Data from before the
// first version has 0.
const Version = 3

// CheckVersion returns an error with a hint if this Pawl does not read a version. what names the data.
func CheckVersion(version int, what string) error {
	if version <= Version {
		return nil
	}
	return failure.New(failure.Usage, "update pawl, or use the version that began this loop",
		"%w: %s has format %d, this pawl reads up to %d", ErrNewer, what, version, Version)
}
