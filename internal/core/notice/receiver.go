package notice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Settings say who receives which notices. A receiver is written as its kind and, behind
// a space, its argument; see ParseReceiver.
type Settings struct {
	To       []string `json:"to,omitempty" doc:"who receives every event that has no list of its own: bell, desktop, speech, command CMD, or one of webhook, slack, discord, telegram, ntfy and email with env:NAME or file:PATH, where the address stands; off is nobody"`
	Ended    []string `json:"ended,omitempty" doc:"who receives that a loop ended, instead of to"`
	NeedsYou []string `json:"needs_you,omitempty" doc:"who receives that a loop needs you, instead of to: a task was blocked or skipped, protected files were changed, tests wait for approval, a login is needed"`
	Wait     []string `json:"wait,omitempty" doc:"who receives that a wait for a usage limit begins or is over, instead of to"`
	Budget   []string `json:"budget,omitempty" doc:"who receives that 75 % or 90 % of max_cost or max_tokens are spent, instead of to"`
	Quiet    string   `json:"quiet,omitempty" doc:"hours of the day in which nothing is sent, such as 22:00-07:00; when they end, you are told what still needs you, and of loops that ended"`
	Answers  []string `json:"answers,omitempty" doc:"whose replies to a question or an approval count: telegram or slack as above, then from and the ids of senders, such as telegram env:TELEGRAM_URL from 4242; a repository's file may not set it"`
}

// For returns the receivers of an event. What cannot be parsed was refused when the loop
// began.
func (s Settings) For(e Event) []Receiver {
	list := map[Event][]string{Ended: s.Ended, NeedsYou: s.NeedsYou, Wait: s.Wait, Budget: s.Budget}[e]
	if len(list) == 0 {
		list = s.To
	}
	if e == Test {
		list = s.All()
	}
	var out []Receiver
	for _, text := range list {
		if r, err := ParseReceiver(text); err == nil && r.Kind != Off {
			out = append(out, r)
		}
	}
	return out
}

// QuietUntil returns when the quiet hours that a local time lies in are over, and the zero
// time outside of them.
func (s Settings) QuietUntil(at time.Time) time.Time {
	q, err := parseQuiet(s.Quiet)
	if err != nil || !q.contains(at) {
		return time.Time{}
	}
	end := time.Date(at.Year(), at.Month(), at.Day(), 0, q.to, 0, 0, at.Location())
	if !end.After(at) {
		end = end.AddDate(0, 0, 1)
	}
	return end
}

// All returns the receivers of any event, each once.
func (s Settings) All() []string {
	var all []string
	for _, list := range [][]string{s.To, s.Ended, s.NeedsYou, s.Wait, s.Budget} {
		for _, text := range list {
			if !slices.Contains(all, text) && text != string(Off) {
				all = append(all, text)
			}
		}
	}
	return all
}

// Kind is how a receiver is reached.
type Kind string

// The kinds.
const (
	Off      Kind = "off"
	Bell     Kind = "bell"
	Desktop  Kind = "desktop"
	Speech   Kind = "speech"
	Command  Kind = "command"
	Webhook  Kind = "webhook"
	Slack    Kind = "slack"
	Discord  Kind = "discord"
	Telegram Kind = "telegram"
	Ntfy     Kind = "ntfy"
	Email    Kind = "email"
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Off, Bell, Desktop, Speech, Command, Webhook, Slack, Discord, Telegram, Ntfy, Email}
}

// Receiver is one place that notices are sent to.
type Receiver struct {
	Kind Kind
	Arg  string // of Command: the command; of a service: env:NAME or file:PATH
}

// String is the receiver as it is written. It holds no address.
func (r Receiver) String() string { return strings.TrimSpace(string(r.Kind) + " " + r.Arg) }

// Local reports whether the receiver runs nothing and sends nothing to another machine,
// so that a repository may name it without the user's trust.
func (r Receiver) Local() bool { return slices.Contains([]Kind{Off, Bell, Desktop, Speech}, r.Kind) }

// ParseReceiver reads "desktop", "command CMD", "slack env:NAME" or "slack file:PATH". An
// address may hold a secret and is copied to spec.json and to logs, so it is refused.
func ParseReceiver(text string) (Receiver, error) {
	kind, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
	r := Receiver{Kind: Kind(kind), Arg: strings.TrimSpace(arg)}
	name, isEnv := strings.CutPrefix(r.Arg, "env:")
	path, isFile := strings.CutPrefix(r.Arg, "file:")
	switch {
	case !slices.Contains(Kinds(), r.Kind):
		return r, errors.New("want off, bell, desktop, speech, command CMD, or webhook, slack, discord, telegram, ntfy or email with env:NAME or file:PATH")
	case r.Local() && r.Arg != "":
		return r, fmt.Errorf("%s stands alone", r.Kind)
	case r.Kind == Command && r.Arg == "":
		return r, errors.New("command needs the command to run, such as  command ./tell.sh")
	case r.Local(), r.Kind == Command:
	case isEnv && name != "" && !strings.ContainsAny(name, " =:/"), isFile && path != "":
	default:
		return r, fmt.Errorf("%s needs env:NAME or file:PATH, where its address stands: an address may hold a secret", r.Kind)
	}
	return r, nil
}

// quiet are quiet hours, in minutes from midnight; they may pass midnight.
type quiet struct{ from, to int }

// CheckQuiet returns what is wrong with the hours, or nil.
func CheckQuiet(text string) error { _, err := parseQuiet(text); return err }

// parseQuiet reads 22:00-07:00; "" is not a time at all.
func parseQuiet(text string) (quiet, error) {
	if text == "" {
		return quiet{}, nil
	}
	from, to, _ := strings.Cut(text, "-")
	begin, err := time.Parse("15:04", strings.TrimSpace(from))
	end, endErr := time.Parse("15:04", strings.TrimSpace(to))
	if err != nil || endErr != nil || begin.Equal(end) {
		return quiet{}, errors.New("want two times of the day, such as 22:00-07:00")
	}
	return quiet{begin.Hour()*60 + begin.Minute(), end.Hour()*60 + end.Minute()}, nil
}

// contains reports whether a time lies in it.
func (q quiet) contains(at time.Time) bool {
	now := at.Hour()*60 + at.Minute()
	if q.from <= q.to {
		return q.from <= now && now < q.to
	}
	return now >= q.from || now < q.to
}
