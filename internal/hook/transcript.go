package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/proc"
)

// tailMax is how much of a transcript's end is read, however large it is.
const tailMax = 64 << 10

// nearMax is where the last answer's count of tokens mostly is; behind it the
// client may have written what it keeps of a prompt, up to some 180 kB.
const (
	nearMax = 16 << 10
	farMax  = 512 << 10
)

// said is a line of a transcript in which the agent says or does something. What
// one answer of the model holds stands in several lines, of one id.
type said struct {
	Type      string    `json:"type"`
	Sidechain bool      `json:"isSidechain"`
	At        time.Time `json:"timestamp"`

	// Of an error of the API, which stands there as an answer: its class, and the end of
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

// transcript reads the end of the transcript, at most so many bytes, the newest line
// first: what the agent said or did, and what it was told since.
func (h *hook) transcript(most int64) iter.Seq[said] {
	return func(yield func(said) bool) {
		tail := fileTail(h.p.Transcript, most)
		for len(tail) > 0 {
			at := bytes.LastIndexByte(tail, '\n')
			line := tail[at+1:]
			tail = tail[:max(at, 0)]
			if !bytes.Contains(line, []byte(`"assistant"`)) && !bytes.Contains(line, []byte(`"user"`)) {
				continue
			}
			var s said
			if err := json.Unmarshal(line, &s); s.Sidechain || err != nil && s.Type != "user" {
				continue // a person's word may be a string: it is not read
			}
			if !yield(s) {
				return
			}
		}
	}
}

// lastSaid are the lines of the agent's last answer that are in the transcript,
// the newest first, and whether it was answered since, by a tool's result or a
// word. The client writes behind: they may be of the turn before.
func (h *hook) lastSaid() (lines []said, answered bool) {
	for s := range h.transcript(tailMax) {
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

// originMax is how much of the transcript is searched for where a turn began.
const originMax = 4 << 20

// turnOrigin is what the transcript says of who began the turn of a prompt: human,
// peer, scheduled, task_notification, auto_continuation, sdk; "" where it does not
// say.
func (h *hook) turnOrigin(prompt string) string {
	mark := []byte(`"promptId":"` + prompt + `"`)
	for line := range bytes.Lines(fileTail(h.p.Transcript, originMax)) {
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

// What the transcript calls who types in a terminal, and the client itself where it
// goes on after a usage limit.
const (
	human            = "human"
	autoContinuation = "auto_continuation"
)

// limitReset is when the usage limit ends that cut off this turn, as the newest
// answer in the transcript has it; zero where that names none.
func (h *hook) limitReset() time.Time {
	l := h.newest().Limits
	if l.Status != "rejected" || l.Resets <= 0 {
		return time.Time{}
	}
	return time.Unix(l.Resets, 0)
}

// lastError is the class of the API's error that the transcript ends with, as
// StopFailure names it, and its text; "" where it ends with an answer of the model, or
// with an error from before a time.
func (h *hook) lastError(before time.Time) (class, message string) {
	s := h.newest()
	if !s.IsError || s.At.Before(before) {
		return "", ""
	}
	return s.Error, strings.Join(s.texts(), "\n\n")
}

// newest is the newest line of an answer in the transcript, zero where there is none.
func (h *hook) newest() said {
	for s := range h.transcript(tailMax) {
		if s.Type == "assistant" {
			return s
		}
	}
	return said{}
}

// wrote is who wrote these words, as the transcript has it: human, or another, ""
// where it does not say. The id of the prompt is not enough, for what another
// session sends in mid-turn has that of the person's turn.
func (h *hook) wrote(text string) (who string) {
	for line := range bytes.Lines(fileTail(h.p.Transcript, originMax)) {
		if !bytes.Contains(line, []byte(`"turnOrigin"`)) && !bytes.Contains(line, []byte(`"queued_command"`)) {
			continue
		}
		var l struct {
			Prompt  string `json:"promptId"`
			Origin  string `json:"turnOrigin"`
			Message struct {
				Content words `json:"content"`
			} `json:"message"`
			Attachment struct {
				Prompt words `json:"prompt"`
				Origin struct {
					Kind string `json:"kind"`
				} `json:"origin"`
			} `json:"attachment"`
		}
		if json.Unmarshal(line, &l) != nil {
			continue
		}
		begun := l.Prompt == h.p.PromptID && l.Message.Content.hold(text)
		queued := l.Attachment.Prompt.hold(text)
		if begun && l.Origin != "" && who != human {
			who = l.Origin
		}
		if queued && l.Attachment.Origin.Kind != "" && who != human {
			who = l.Attachment.Origin.Kind
		}
	}
	return who
}

// words are a text, or blocks of which some are text.
type words []string

func (w *words) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*w = words{text}
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
	return nil // whatever else it is says nothing
}

func (w words) hold(text string) bool {
	return slices.ContainsFunc(w, func(s string) bool { return s == text })
}

// sessionBegan is when the client was started or, of a session that was resumed since,
// the first time in its transcript; zero where neither is known. The transcript alone
// does not tell: on a terminal it begins with the first prompt, and may not be written
// yet at the first stop.
func (h *hook) sessionBegan() time.Time {
	client, first := proc.Began(h.Env.Session.Client), h.firstTime()
	if client.IsZero() || !first.IsZero() && first.Before(client) {
		return first
	}
	return client
}

// firstTime is the first time that the transcript names, zero where it names none.
func (h *hook) firstTime() time.Time {
	f, err := os.Open(h.p.Transcript)
	if err != nil {
		return time.Time{}
	}
	defer f.Close()
	for in := bufio.NewScanner(io.LimitReader(f, originMax)); in.Scan(); {
		var l struct {
			Timestamp time.Time `json:"timestamp"`
		}
		if json.Unmarshal(in.Bytes(), &l) == nil && !l.Timestamp.IsZero() {
			return l.Timestamp
		}
	}
	return time.Time{}
}

// lastMessage is the agent's last message: as the client gives it or, from old
// clients, as the transcript's end has it. New clients leave it out of turns that
// end without a word: what was said before the last tool call is none.
func (h *hook) lastMessage() string {
	if h.p.Last != nil {
		return *h.p.Last
	}
	if h.p.Background != nil {
		return "" // a new one: the transcript may not have the last tool's result yet
	}
	lines, answered := h.lastSaid()
	if answered {
		return ""
	}
	var parts []string
	for _, s := range slices.Backward(lines) {
		parts = append(parts, s.texts()...)
	}
	return strings.Join(parts, "\n\n")
}

// texts are the blocks of text that the line holds.
func (s said) texts() (texts []string) {
	for _, c := range s.Message.Content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

// The windows of the models, in tokens, and what a client that was set a smaller
// one keeps free of it: it compacts the context when the rest is full.
const (
	usualWindow = 1_000_000
	smallWindow = 200_000
	keptFree    = 33_000
)

// fillTries is for how long an answer is waited for that the client has not written
// yet: under load it was seen to take half a second.
const fillTries = 40

// smallModels are what the names of models with the small window hold. The name
// with which the large one is asked for (…[1m]) is not in the transcript.
const smallModels = "claude-3 sonnet-4-2 sonnet-4-5 sonnet-4-6 opus-4-5 opus-4-6 haiku-4-5"

// contextFill is how full the context is, in percent, or -1: what the model was
// last given, of its window. The client writes the transcript behind; where much
// hangs on it, the answer that ended this turn is waited for.
func (h *hook) contextFill(wait bool) int {
	fill, now := h.filled()
	for tries := 0; wait && !now && tries < fillTries && exists(h.p.Transcript); tries++ {
		time.Sleep(lagWait)
		fill, now = h.filled()
	}
	return fill
}

// filled tells too whether that is of the answer that the client speaks of.
func (h *hook) filled() (percent int, now bool) {
	for _, most := range []int64{nearMax, farMax} {
		for s := range h.transcript(most) {
			if s.Type == "assistant" {
				return s.fill(h.Env.Session.Window), h.p.Last == nil || s.says(*h.p.Last)
			}
		}
	}
	return -1, false
}

// says tells whether the line ends a message.
func (s said) says(message string) bool {
	for _, c := range s.Message.Content {
		if text := strings.TrimSpace(c.Text); c.Type == "text" && strings.HasSuffix(strings.TrimSpace(message), text) {
			return true
		}
	}
	return false
}

func (s said) fill(set int64) int {
	m := s.Message
	const most = 1 << 40 // more tokens than there are; three of them are no overflow
	used := min(m.Usage.Input, most) + min(m.Usage.CacheRead, most) + min(m.Usage.CacheWrite, most)
	if used <= 0 {
		return -1
	}
	window := int64(usualWindow)
	if small := func(name string) bool { return strings.Contains(m.Model, name) }; used <= smallWindow && slices.ContainsFunc(strings.Fields(smallModels), small) {
		window = smallWindow
	}
	if set > keptFree {
		window = min(window, set-keptFree)
	}
	return int(min(used*100/window, 100))
}

// fileTail is the end of a file, empty where there is none.
func fileTail(path string, most int64) []byte {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data := make([]byte, min(info.Size(), most))
	n, err := f.ReadAt(data, info.Size()-int64(len(data)))
	if err != nil && !errors.Is(err, io.EOF) { // cut since
		return nil
	}
	return data[:n]
}
