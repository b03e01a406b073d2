package thloop

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// The channel is beside the folder .claude: a file in the first version, else a folder with a file
// for each day, YYYY-MM-DD.md.
const (
	ChannelFile = "temp/th-channel.md"
	ChannelDir  = "temp/th-channel"
)

// Source is a file of the channel with its current content.
type Source struct {
	Name     string // its path, with slashes
	Data     []byte
	Complete bool // nobody is writing: a last line without a line end is whole
}

// Cursor stores how far a channel was read. The zero Cursor has read nothing.
type Cursor struct {
	From  string    `json:"from,omitempty"`  // files of earlier days are ignored
	Since time.Time `json:"since,omitzero"`  // when there were last new messages, or the first read
	Marks []Mark    `json:"marks,omitempty"` // of the files that were read
}

// Mark stores how far a file was read: to its last point. The earlier points are used if the file
// changed before that.
type Mark struct {
	File   string  `json:"file"`
	Points []Point `json:"points"`
}

// Point is an offset in a file, and the checksum of what precedes it.
type Point struct {
	Offset int    `json:"offset"`
	Sum    string `json:"sum"`
}

// maxPoints limits the number of points that are kept for a file.
const maxPoints = 16

// Days returns the names of the files in ChannelDir that are to be read now, in order. They include
// yesterday's, so that nothing is lost at midnight, all since the last read, and tomorrow's, since
// clocks have zones. The first read takes today's file, or yesterday's if there is none.
func (c Cursor) Days(names []string, now time.Time) []string {
	today := now.Format(time.DateOnly)
	from, until := cmp.Or(c.From, day(now, -1)), day(now, 1)
	var days []string
	for _, name := range names {
		if d, ok := strings.CutSuffix(name, ".md"); ok && isDay(d) && d >= from && d <= until {
			days = append(days, name)
		}
	}
	slices.Sort(days)
	if n := len(days); c.From == "" && n > 0 && days[n-1] >= today {
		days = slices.DeleteFunc(days, func(d string) bool { return d < today })
	}
	return days
}

func day(now time.Time, days int) string { return now.AddDate(0, 0, days).Format(time.DateOnly) }

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// Read returns the new text of the files, in their order, and the new cursor. me is the agent's
// name in the channel, "" if it has none.
//
// A file is read from where the last read ended. If the file changed before that, it is read from
// the last point before the change: nothing is lost, but some text may be returned twice.
func (c Cursor) Read(files []Source, me string, now time.Time) (News, Cursor) {
	next := Cursor{From: max(c.from(files), day(now, -1)), Since: c.Since}
	news := News{First: c.From == ""}
	for _, file := range files {
		points := c.points(file)
		start := 0
		if n := len(points); n > 0 {
			start = points[n-1].Offset
		}
		end := max(start, bytes.LastIndexByte(file.Data, '\n')+1)
		if file.Complete {
			end = len(file.Data)
		}
		if end > start {
			news.read(file, start, end, me)
			points = append(points, Point{Offset: end, Sum: checksum(file.Data[:end])})
		}
		next.Marks = append(next.Marks, Mark{File: file.Name, Points: points[max(0, len(points)-maxPoints):]})
	}
	for _, m := range c.Marks { // a file may be missing for a moment while an editor saves it
		if !slices.ContainsFunc(files, func(f Source) bool { return f.Name == m.File }) {
			next.Marks = append(next.Marks, m)
		}
	}
	next.Marks = slices.DeleteFunc(next.Marks, func(m Mark) bool { // not read again
		return m.File != ChannelFile && m.File < ChannelDir+"/"+next.From
	})
	if news.First || len(news.Parts) > 0 {
		next.Since = now
	}
	return news, next
}

// from returns the first day that is read from now on. At the first read, it is the first file's.
func (c Cursor) from(files []Source) string {
	for _, f := range files {
		if d, ok := strings.CutPrefix(f.Name, ChannelDir+"/"); ok && c.From == "" {
			return strings.TrimSuffix(d, ".md")
		}
	}
	return c.From
}

// points returns the points of a file that precede any change.
func (c Cursor) points(file Source) []Point {
	at := slices.IndexFunc(c.Marks, func(m Mark) bool { return m.File == file.Name })
	if at < 0 {
		return nil
	}
	points := c.Marks[at].Points
	for n := len(points); n > 0; n-- {
		if p := points[n-1]; p.Offset <= len(file.Data) && checksum(file.Data[:p.Offset]) == p.Sum {
			return slices.Clone(points[:n])
		}
	}
	return nil
}

func checksum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:16])
}
