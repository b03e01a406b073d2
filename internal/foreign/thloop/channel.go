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

// Where the channel lies, from the folder in which .claude lies: a file of the
// first version, and a folder with a file for each day, YYYY-MM-DD.md.
const (
	ChannelFile = "temp/th-channel.md"
	ChannelDir  = "temp/th-channel"
)

// Source is a file of the channel as it stands.
type Source struct {
	Name     string // its path, with slashes
	Data     []byte
	Complete bool // nobody is writing: a last line without a line end is whole
}

// Cursor is how far a channel was read. The zero Cursor has read nothing.
type Cursor struct {
	From  string    `json:"from,omitempty"`  // the day before which no file is looked at
	Since time.Time `json:"since,omitzero"`  // when something was new last, or the first read was
	Marks []Mark    `json:"marks,omitempty"` // of the files that were read
}

// Mark is how far a file was read: to the last of its points. The others serve
// where the file has changed before that.
type Mark struct {
	File   string  `json:"file"`
	Points []Point `json:"points"`
}

// Point is a place in a file, and the sum of what was before it.
type Point struct {
	Offset int    `json:"offset"`
	Sum    string `json:"sum"`
}

// pointsMax is how many points are kept of a file.
const pointsMax = 16

// Days are those of the names of files in ChannelDir that are to be read now, in
// their order: yesterday's with today's, so that nothing is lost at midnight, all
// since the last read, and tomorrow's, as clocks have zones. The first read takes
// today's, or yesterday's if that is the last: what is older was said to others.
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

// Read returns what is new in the files, in their order, and the cursor behind it.
// Me is the agent's own name in the channel, "" if it has none.
//
// A file whose beginning is as it was is read from where the last read ended. Where
// it has changed before that, all behind the last point at which it had not is new:
// nothing is lost, and some may be told twice.
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
			points = append(points, Point{Offset: end, Sum: sum(file.Data[:end])})
		}
		next.Marks = append(next.Marks, Mark{File: file.Name, Points: points[max(0, len(points)-pointsMax):]})
	}
	for _, m := range c.Marks { // a file may be away for a moment, as editors save
		if !slices.ContainsFunc(files, func(f Source) bool { return f.Name == m.File }) {
			next.Marks = append(next.Marks, m)
		}
	}
	next.Marks = slices.DeleteFunc(next.Marks, func(m Mark) bool { // will not be looked at again
		return m.File != ChannelFile && m.File < ChannelDir+"/"+next.From
	})
	if news.First || len(news.Parts) > 0 {
		next.Since = now
	}
	return news, next
}

// from is the first day that is looked at from now on: at the first read that of
// the first file there is.
func (c Cursor) from(files []Source) string {
	for _, f := range files {
		if d, ok := strings.CutPrefix(f.Name, ChannelDir+"/"); ok && c.From == "" {
			return strings.TrimSuffix(d, ".md")
		}
	}
	return c.From
}

// points are those of the file before which it is as it was.
func (c Cursor) points(file Source) []Point {
	at := slices.IndexFunc(c.Marks, func(m Mark) bool { return m.File == file.Name })
	if at < 0 {
		return nil
	}
	points := c.Marks[at].Points
	for n := len(points); n > 0; n-- {
		if p := points[n-1]; p.Offset <= len(file.Data) && sum(file.Data[:p.Offset]) == p.Sum {
			return slices.Clone(points[:n])
		}
	}
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:16])
}
