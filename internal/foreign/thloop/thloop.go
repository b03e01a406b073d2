// Package thloop reads and writes the files of th-loop, a loop inside a session of
// Claude Code: its state file, its channel, its messages. Only documents of it are
// public; docs/reference/th-loop.md says what is taken from them.
//
//	f, err := thloop.Parse(path, data)         // of .claude/th-loop.local.md
//	f = f.SetIteration(f.Iteration + 1)        // f.Bytes() differs in the digits only
//	news, cursor := cursor.Read(files, "eris") // what is new in temp/th-channel/…
//
// The state file only has front matter: status, started, max, iteration, duration, prompt,
// last_read_timestamp. The channel is Markdown to which the user and other processes append at any
// time. The agent gets new text once, and a line with only the word stop ends the loop.
//
// The files are untrusted: MayFollow reports whether a session may follow the state file. The package
// neither reads files nor decides when a loop ends.
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

// The keys of the state file. Only every is Pawl's: th-loop's documents mention periodic tasks, but
// no key for the interval.
const (
	keyStatus    = "status"
	keyMax       = "max"
	keyIteration = "iteration"
	keyDuration  = "duration"
	keyPrompt    = "prompt"
	keyLastRead  = "last_read_timestamp"
	keyEvery     = "every"
)

// Values of status.
const (
	Active    = "active"
	Paused    = "paused"    // the user paused the loop
	Completed = "completed" // a limit was reached
	Stopped   = "stopped"   // someone stopped it
)

// File is a state file with its values. Changes to the fields do not affect Bytes. The start time
// is not read, since copied files may be a year off; time counts from the adoption.
type File struct {
	Status        string        // as written, "" if missing
	Iteration     int           // 0 if missing
	Max           int           // iterations, if MaxGiven; 0 = unlimited
	MaxGiven      bool          //
	Duration      time.Duration // if DurationGiven; 0 = unlimited
	DurationGiven bool          //
	Every         time.Duration // the interval of a periodic task, 0 = none
	Prompt        string        // "" = the new text in the channel is the prompt

	text *frontmatter.Text
}

// Parse reads a state file. path is for errors, which read "PATH:LINE: what is wrong: expected …"
// and have a hint. Parse keeps data without a copy.
func Parse(path string, data []byte) (*File, error) {
	t, err := frontmatter.Parse(path, data, keyStatus, keyMax, keyIteration, keyDuration, keyPrompt, keyLastRead, keyEvery)
	if err != nil {
		return nil, err
	}
	f := &File{text: t, Status: t.Field(keyStatus).WithoutComment(), Prompt: prompt(t)}
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

// maxSeconds is the limit in seconds. It fits into a time.Duration.
const maxSeconds = 1 << 31

// duration reads seconds, or a duration with units.
func duration(t *frontmatter.Text, key string) (d time.Duration, given bool, err error) {
	const want = "seconds or a duration such as 90s, 10m or 8h, 0 for none"
	if d, err := time.ParseDuration(t.Field(key).WithoutComment()); err == nil && d >= 0 {
		return d, true, nil
	}
	n, given, err := t.Number(key, want)
	if n > maxSeconds {
		err = t.ValueError(key, want)
	}
	return time.Duration(n) * time.Second, given, err
}

// prompt returns the fixed prompt, on its line or in the lines below. In a file with neither prompt
// nor status, it returns the text after the front matter.
func prompt(t *frontmatter.Text) string {
	f := t.Field(keyPrompt)
	switch {
	case f.Line == 0 && t.Field(keyStatus).Line == 0:
		return strings.ToValidUTF8(strings.TrimSpace(t.Body()), "�")
	case f.IsNull():
		return ""
	case f.Quote == 0 && (strings.HasPrefix(f.Value, "|") || strings.HasPrefix(f.Value, ">")) && len(f.Value) < 3:
		return strings.ToValidUTF8(t.Block(keyPrompt), "�")
	}
	return strings.ToValidUTF8(strings.TrimSpace(f.Value), "�")
}

// Bytes returns the file with the values that were set. Callers must not change it.
func (f *File) Bytes() []byte { return f.text.Bytes() }

// IsActive reports whether the status is active or missing.
func (f *File) IsActive() bool {
	return strings.EqualFold(f.Status, Active) || f.text != nil && f.text.Field(keyStatus).Line == 0
}

// IsPaused reports whether the status is paused.
func (f *File) IsPaused() bool { return strings.EqualFold(f.Status, Paused) }

// SetIteration returns the file at iteration n (0 or more).
func (f *File) SetIteration(n int) *File {
	g := *f
	g.Iteration = max(n, 0)
	g.text = f.text.Set(keyIteration, strconv.Itoa(g.Iteration))
	return &g
}

// SetStatus returns the file with another status, a word.
func (f *File) SetStatus(status string) *File {
	g := *f
	g.Status = status
	g.text = f.text.Set(keyStatus, status)
	return &g
}

// SetLastRead returns the file with the time of the last read of the channel, in the format that
// the file has, else in seconds.
func (f *File) SetLastRead(at time.Time) *File {
	g := *f
	g.text = f.text.Set(keyLastRead, formatLike(f.text.Field(keyLastRead).Value, at))
	return &g
}

// formatLike returns a time in the format of another one.
func formatLike(like string, at time.Time) string {
	if like != "" && strings.Trim(like, "0123456789") != "" {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "15:04:05", "15:04"} {
			if _, err := time.Parse(layout, like); err == nil {
				return at.Format(layout)
			}
		}
	}
	return strconv.FormatInt(at.Unix(), 10)
}

// DefaultGoal returns the goal of a loop whose file has no prompt.
func DefaultGoal() string {
	return fmt.Sprintf("What you are to do is in the channel, %s or %s/YYYY-MM-DD.md of today: messages of the user you work for and of others who work with you. "+
		"What is new there comes with each turn. Read on in those files if something is left out, answer there under a heading with the time and your name, "+
		"and continue by yourself with what was last asked for when nothing is new.", ChannelFile, ChannelDir)
}

// NoNewsMessage returns the text for a turn without new messages since a time.
func NoNewsMessage(since time.Time) string {
	return "(No new messages since " + since.Format(time.DateTime) + ")"
}

// EndedMessage returns the message for a loop that ended after a duration.
func EndedMessage(after time.Duration) string {
	return fmt.Sprintf("th-loop completed: %ds elapsed", int64(after/time.Second))
}

// MayFollow reports whether a session may follow the file at the path, and if not, returns a message
// for the user. The message is "" for a file that is not active, since every loop leaves one.
//
// The file names no session, so it must have been written in the session that follows it. Otherwise
// it came from a clone, an archive or an old session. The start time in the file proves nothing.
func MayFollow(path string, f *File, c freshness.FileContext) (ok bool, why string) {
	switch {
	case !f.IsActive():
		return false, ""
	case c.Tracked:
		return false, "git tracks " + path + ", so it may have come with a clone; if it is yours: git rm --cached " + path
	case c.Followed:
		return false, "th-loop's own hook is installed: " + path + " handles it; remove that hook to let pawl follow it"
	case freshness.IsInFuture(c.Modified, c.Now):
		return false, path + " has a time in the future"
	case freshness.IsStale(c.Modified, c.SessionStarted, c.Now):
		return false, path + " " + freshness.TooOldMessage(c.StartCommand)
	}
	return true, ""
}
