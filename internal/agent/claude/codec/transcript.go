package codec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
)

// maxTailBytes bounds how much of a transcript's end is read.
const maxTailBytes = 64 << 10

const (
	// The answer's token count is mostly within nearTailBytes of the end. After it the
	// client may have written a copy of the prompt, of up to 180 kB.
	nearTailBytes = 16 << 10
	farTailBytes  = 512 << 10
)

// transcriptLine is a line of the transcript with something the agent said or did. One
// answer of the model spans several lines with the same id.
type transcriptLine struct {
	Type      string    `json:"type"`
	Sidechain bool      `json:"isSidechain"`
	At        time.Time `json:"timestamp"`

	// The transcript has an error of the API as an answer. Its class, and the end of
	// the usage limit, in seconds since 1970.
	IsError bool   `json:"isApiErrorMessage"`
	Error   string `json:"error"`
	Limits  struct {
		Status string `json:"status"`
		Resets int64  `json:"resetsAt"`
	} `json:"quotaLimits"`

	Message struct {
		ID      string `json:"id"`
		Model   string `json:"model"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Usage struct {
			Input      int64 `json:"input_tokens"`
			CacheRead  int64 `json:"cache_read_input_tokens"`
			CacheWrite int64 `json:"cache_creation_input_tokens"`
		} `json:"usage"`
	} `json:"message"`
}

// transcript yields the user's and the agent's lines at the end of the transcript, newest
// first, from at most so many bytes.
func (p Event) transcript(most int64) iter.Seq[transcriptLine] {
	return func(yield func(transcriptLine) bool) {
		tail := fileTail(p.Transcript, most)
		for len(tail) > 0 {
			at := bytes.LastIndexByte(tail, '\n')
			line := tail[at+1:]
			tail = tail[:max(at, 0)]
			if !bytes.Contains(line, []byte(`"assistant"`)) && !bytes.Contains(line, []byte(`"user"`)) {
				continue
			}
			var s transcriptLine
			if err := json.Unmarshal(line, &s); s.Sidechain || err != nil && s.Type != "user" {
				continue // a user's message may be a string, which is not needed
			}
			if !yield(s) {
				return
			}
		}
	}
}

// lastAnswer returns the lines of the agent's last answer, newest first, and whether a
// tool result or a prompt follows it. The client writes with a delay: the answer may be
// that of the turn before.
func (p Event) lastAnswer() (lines []transcriptLine, answered bool) {
	for s := range p.transcript(maxTailBytes) {
		if s.Type == "user" && len(lines) == 0 {
			answered = true
		}
		if s.Type != "assistant" {
			continue
		}
		if len(lines) > 0 && s.Message.ID != lines[0].Message.ID {
			break
		}
		lines = append(lines, s)
	}
	return lines, answered
}

// maxOriginBytes bounds how much of the transcript is searched for the origin of a turn.
const maxOriginBytes = 4 << 20

// TurnOrigin returns who started the turn of a prompt, according to the transcript: human,
// peer, scheduled, task_notification, auto_continuation, sdk; "" if it does not say.
func (p Event) TurnOrigin(prompt string) string {
	mark := []byte(`"promptId":"` + prompt + `"`)
	for line := range bytes.Lines(fileTail(p.Transcript, maxOriginBytes)) {
		if !bytes.Contains(line, mark) || !bytes.Contains(line, []byte(`"turnOrigin"`)) {
			continue
		}
		var l struct {
			Prompt string `json:"promptId"`
			Origin string `json:"turnOrigin"`
		}
		if json.Unmarshal(line, &l) == nil && l.Prompt == prompt && l.Origin != "" {
			return l.Origin
		}
	}
	return ""
}

// Who started a turn, in the transcript's words.
const (
	OriginHuman            = "human"             // a user at the terminal
	OriginAutoContinuation = "auto_continuation" // the client, which resumes by itself after a usage limit
	OriginProgram          = "sdk"               // which may pass on what it was given
)

// LimitReset returns when the usage limit ends that cut off this turn, from the newest
// answer in the transcript; zero if it names none.
func (p Event) LimitReset() time.Time {
	l := p.newestAnswer().Limits
	if l.Status != "rejected" || l.Resets <= 0 {
		return time.Time{}
	}
	return time.Unix(l.Resets, 0)
}

// LastError returns the class and the text of the API error that the transcript ends
// with, as StopFailure names it. They are "" if it ends with an answer of the model or
// with an error from before a time.
func (p Event) LastError(before time.Time) (class, message string) {
	s := p.newestAnswer()
	if !s.IsError || s.At.Before(before) {
		return "", ""
	}
	return s.Error, strings.Join(s.texts(), "\n\n")
}

// newestAnswer returns the newest line of an answer, or a zero line.
func (p Event) newestAnswer() transcriptLine {
	for s := range p.transcript(maxTailBytes) {
		if s.Type == "assistant" {
			return s
		}
	}
	return transcriptLine{}
}

// AuthorOf returns who wrote a text according to the transcript: human, or another; "" if
// it does not say. The prompt id is not enough: a message of another session in mid-turn
// has the id of the user's turn.
func (p Event) AuthorOf(text string) (who string) {
	for line := range bytes.Lines(fileTail(p.Transcript, maxOriginBytes)) {
		if !bytes.Contains(line, []byte(`"turnOrigin"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
			continue
		}
		var l struct {
			Prompt  string `json:"promptId"`
			Origin  string `json:"turnOrigin"`
			Message struct {
				Content textBlocks `json:"content"`
			} `json:"message"`
			Attachment struct {
				Prompt textBlocks `json:"prompt"`
				Origin struct {
					Kind string `json:"kind"`
				} `json:"origin"`
			} `json:"attachment"`
		}
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		begun := l.Prompt == p.PromptID && l.Message.Content.contains(text)
		queued := l.Attachment.Prompt.contains(text)
		if begun && l.Origin != "" && who != OriginHuman {
			who = l.Origin
		}
		if queued && l.Attachment.Origin.Kind != "" && who != OriginHuman {
			who = l.Attachment.Origin.Kind
		}
	}
	return who
}

// textBlocks holds the text of a message, which the transcript writes as a string or as a
// list of blocks.
type textBlocks []string

// UnmarshalJSON reads a string or a list of blocks, and ignores anything else.
func (w *textBlocks) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*w = textBlocks{text}
		return nil
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(data, &blocks) == nil {
		for _, b := range blocks {
			*w = append(*w, b.Text)
		}
	}
	return nil
}

// contains reports whether one of the blocks equals s.
func (w textBlocks) contains(text string) bool {
	return slices.ContainsFunc(w, func(s string) bool { return s == text })
}

// TranscriptStart returns the first time in the transcript, or zero.
func (p Event) TranscriptStart() time.Time {
	f, err := atomicfile.Open(p.Transcript)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	for in := bufio.NewScanner(io.LimitReader(f, maxOriginBytes)); in.Scan(); {
		var l struct {
			Timestamp time.Time `json:"timestamp"`
		}
		if json.Unmarshal(in.Bytes(), &l) == nil && !l.Timestamp.IsZero() {
			return l.Timestamp
		}
	}
	return time.Time{}
}

// Answer returns the agent's last message, from the event or, with old clients, from
// the transcript. New clients omit it for a turn that ends without text; text before the
// last tool call does not count.
func (p Event) Answer() string {
	if p.LastMessage != nil {
		return *p.LastMessage
	}
	if p.Background != nil {
		return "" // a new one: the transcript may not have the last tool's result yet
	}
	lines, answered := p.lastAnswer()
	if answered {
		return ""
	}
	var parts []string
	for _, s := range slices.Backward(lines) {
		parts = append(parts, s.texts()...)
	}
	return strings.Join(parts, "\n\n")
}

// texts returns the text blocks of the line.
func (s transcriptLine) texts() (texts []string) {
	for _, c := range s.Message.Content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

const (
	// The models' context windows in tokens, and what a client with a smaller window set
	// keeps free of it before it compacts.
	defaultWindowTokens     = 1_000_000
	smallWindowTokens       = 200_000
	compactionReserveTokens = 33_000
)

// smallModels lists parts of the names of models with the small window. The suffix that
// selects the large one ([1m]) is not in the transcript.
const smallModels = "claude-3 sonnet-4-2 sonnet-4-5 sonnet-4-6 opus-4-5 opus-4-6 haiku-4-5"

// ContextFill returns how full the context is, in percent, or -1: the input tokens of the
// last answer, relative to the model's window, which the user may have set (0: not). It also
// reports whether that answer is the one in this event.
func (p Event) ContextFill(window int64) (percent int, now bool) {
	for _, most := range []int64{nearTailBytes, farTailBytes} {
		for s := range p.transcript(most) {
			if s.Type == "assistant" {
				return s.contextPercent(window), p.LastMessage == nil || s.endsMessage(*p.LastMessage)
			}
		}
	}
	return -1, false
}

// endsMessage reports whether a message ends with the line's text.
func (s transcriptLine) endsMessage(message string) bool {
	for _, c := range s.Message.Content {
		if text := strings.TrimSpace(c.Text); c.Type == "text" && strings.HasSuffix(strings.TrimSpace(message), text) {
			return true
		}
	}
	return false
}

// contextPercent returns the line's input tokens in percent of the window; set is the
// user's window, or 0.
func (s transcriptLine) contextPercent(set int64) int {
	m := s.Message
	const most = 1 << 40 // more tokens than there are; three of them are not an overflow
	used := min(m.Usage.Input, most) + min(m.Usage.CacheRead, most) + min(m.Usage.CacheWrite, most)
	if used <= 0 {
		return -1
	}
	window := int64(defaultWindowTokens)
	if small := func(name string) bool { return strings.Contains(m.Model, name) }; used <= smallWindowTokens && slices.ContainsFunc(strings.Fields(smallModels), small) {
		window = smallWindowTokens
	}
	if set > compactionReserveTokens {
		window = min(window, set-compactionReserveTokens)
	}
	return int(min(used*100/window, 100))
}

// fileTail returns the end of a file, or nothing if it cannot be read. It does not wait for a pipe that
// an agent put in the file's place.
func fileTail(path string, most int64) []byte {
	if path == "" {
		return nil
	}
	f, err := atomicfile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	data := make([]byte, min(info.Size(), most))
	n, err := f.ReadAt(data, info.Size()-int64(len(data)))
	if err != nil && !errors.Is(err, io.EOF) { // cut since
		return nil
	}
	return data[:n]
}
