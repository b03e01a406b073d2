// Package thloop reads and writes the files of th-loop, a loop inside a session of
// Claude Code: its state file, its channel, its messages. Only documents of it are
// public; docs/reference/th-loop.md says what is taken from them.
//
//	f, err := thloop.Parse(path, data)         // of .claude/th-loop.local.md
//	f = f.SetIteration(f.Iteration + 1)        // f.Bytes() differs in the digits only
//	news, cursor := cursor.Read(files, "eris") // what is new in temp/th-channel/…
//
// The state file is front matter alone: status, started, max, iteration,
// duration, prompt, last_read_timestamp. The channel is Markdown to which the
// user and other processes append, at any time; what they write is told to the
// agent once, and a line with the word stop alone ends the loop.
//
// All of it is untrusted: Adopt says whether a session may follow the file.
// Nothing here reads a file or decides when a loop ends.
package thloop

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/foreign/freshness"
	"github.com/pawl-dev/pawl/internal/foreign/frontmatter"
)

// MaxSize is the largest state file that is read, in bytes.
const MaxSize = frontmatter.MaxSize

// The keys of the state file. Every is Pawl's own: the documents speak of periodic
// tasks, and have no key for how often.
const (
	keyStatus    = "status"
	keyMax       = "max"
	keyIteration = "iteration"
	keyDuration  = "duration"
	keyPrompt    = "prompt"
	keyLastRead  = "last_read_timestamp"
	keyEvery     = "every"
)

// What status says.
const (
	Active    = "active"
	Paused    = "paused"    // the loop rests
	Completed = "completed" // a limit was reached
	Stopped   = "stopped"   // somebody ended it
)

// File is a state file and what it says. The fields are for reading: what is
// written to them does not reach Bytes. What it says of when the loop started is
// not read: copied files are a year off, so time counts from the adoption.
type File struct {
	Status        string        // as written; "" if it is not there
	Iteration     int           // 0 if it is not there
	Max           int           // iterations, if MaxGiven: 0 means unlimited
	MaxGiven      bool          //
	Duration      time.Duration // if DurationGiven: 0 means unlimited
	DurationGiven bool          //
	Every         time.Duration // between two iterations of a periodic task; 0 if it is none
	Prompt        string        // "": what is new in the channel is the prompt

	text *frontmatter.Text
}

// Parse reads a state file whose path, for errors, is given. An error reads
// "PATH:LINE: what is wrong: expected …" and has a hint. The data is kept, not
// copied.
func Parse(path string, data []byte) (*File, error) {
	t, err := frontmatter.Parse(path, data, keyStatus, keyMax, keyIteration, keyDuration, keyPrompt, keyLastRead, keyEvery)
	if err != nil {
		return nil, err
	}
	f := &File{text: t, Status: t.Field(keyStatus).Word(), Prompt: prompt(t)}
	if f.Iteration, _, err = t.Number(keyIteration, "a whole number"); err != nil {
		return nil, err
	}
	if f.Max, f.MaxGiven, err = t.Number(keyMax, "a whole number, 0 for unlimited"); err != nil {
		return nil, err
	}
	if f.Duration, f.DurationGiven, err = duration(t, keyDuration); err != nil {
		return nil, err
	}
	if f.Every, _, err = duration(t, keyEvery); err != nil {
		return nil, err
	}
	return f, nil
}

// longest is more seconds than anybody waits, and few enough for a time.Duration.
const longest = 1 << 31

// duration reads seconds, or a duration with its units.
func duration(t *frontmatter.Text, key string) (d time.Duration, given bool, err error) {
	const want = "seconds or a duration such as 90s, 10m or 8h, 0 for none"
	if d, err := time.ParseDuration(t.Field(key).Word()); err == nil && d >= 0 {
		return d, true, nil
	}
	n, given, err := t.Number(key, want)
	if n > longest {
		err = t.Wrong(key, want)
	}
	return time.Duration(n) * time.Second, given, err
}

// prompt is the fixed one, on its line or in the lines below it; in a file
// that has neither prompt nor status, what stands behind the front matter.
func prompt(t *frontmatter.Text) string {
	f := t.Field(keyPrompt)
	switch {
	case f.Line == 0 && t.Field(keyStatus).Line == 0:
		return strings.ToValidUTF8(strings.TrimSpace(t.Body()), "�")
	case f.Null():
		return ""
	case f.Quote == 0 && (strings.HasPrefix(f.Value, "|") || strings.HasPrefix(f.Value, ">")) && len(f.Value) < 3:
		return strings.ToValidUTF8(t.Block(keyPrompt), "�")
	}
	return strings.ToValidUTF8(strings.TrimSpace(f.Value), "�")
}

// Bytes is the file, as it was read or with what was set since. The caller does
// not write to it.
func (f *File) Bytes() []byte { return f.text.Bytes() }

// Active reports whether the loop is at work: the file says so, or has no line for it.
func (f *File) Active() bool {
	return strings.EqualFold(f.Status, Active) || f.text != nil && f.text.Field(keyStatus).Line == 0
}

// Paused reports whether the file says that the loop rests.
func (f *File) Paused() bool { return strings.EqualFold(f.Status, Paused) }

// SetIteration is the file at iteration n (0 or more).
func (f *File) SetIteration(n int) *File {
	g := *f
	g.Iteration = max(n, 0)
	g.text = f.text.Set(keyIteration, strconv.Itoa(g.Iteration))
	return &g
}

// SetStatus is the file with another status, a word.
func (f *File) SetStatus(status string) *File {
	g := *f
	g.Status = status
	g.text = f.text.Set(keyStatus, status)
	return &g
}

// SetLastRead is the file with the time at which the channel was last read, in the
// form in which the file has it, else in seconds like all its times.
func (f *File) SetLastRead(at time.Time) *File {
	g := *f
	g.text = f.text.Set(keyLastRead, stamp(f.text.Field(keyLastRead).Value, at))
	return &g
}

// stamp writes a time as the one that is there is written.
func stamp(like string, at time.Time) string {
	if like != "" && strings.Trim(like, "0123456789") != "" {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "15:04:05", "15:04"} {
			if _, err := time.Parse(layout, like); err == nil {
				return at.Format(layout)
			}
		}
	}
	return strconv.FormatInt(at.Unix(), 10)
}

// Goal is what a loop is told to do whose file has no prompt of its own.
func Goal() string {
	return fmt.Sprintf("What you are to do is in the channel, %s or %s/YYYY-MM-DD.md of today: messages of the user you work for and of others who work with you. "+
		"What is new there comes with each turn. Read on in those files if something is left out, answer there under a heading with the time and your name, "+
		"and continue by yourself with what was last asked for when nothing is new.", ChannelFile, ChannelDir)
}

// NoNews is said of a turn for which the channel had nothing, since it last had.
func NoNews(since time.Time) string {
	return "(No new messages since " + since.Format(time.DateTime) + ")"
}

// Ended is said when a loop has ended that took so long.
func Ended(after time.Duration) string {
	return fmt.Sprintf("th-loop completed: %ds elapsed", int64(after/time.Second))
}

// FileContext is what is known about a state file beside its content.
type FileContext = freshness.FileContext

// Adopt reports whether a session may follow the file at the path, and if not, why,
// as a user would be told; "" where there is nothing to say: a file that is not
// active is what each loop leaves behind.
//
// The file names no session, so it must have been written in the one that takes it:
// else it came with a clone or an archive, or was left by a session long gone.
// When the loop started, by the file's own word, tells nothing.
func Adopt(path string, f *File, c FileContext) (ok bool, why string) {
	switch {
	case !f.Active():
		return false, ""
	case c.Tracked:
		return false, "git tracks " + path + ", so it may have come with a clone; if it is yours: git rm --cached " + path
	case c.Followed:
		return false, "th-loop's own hook is installed: " + path + " is left to it; take that out to have pawl follow it"
	case freshness.IsInFuture(c.Modified, c.Now):
		return false, path + " has a time that lies in the future"
	case freshness.IsStale(c.Modified, c.SessionStarted, c.Now):
		return false, path + " " + freshness.TooOldMessage(c.Begin)
	}
	return true, ""
}
