package notice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Settings say who receives which notices. A receiver is written as its kind, a space and
// its argument; see ParseReceiver.
type Settings struct {
	To       []string `json:"to,omitempty" doc:"who receives every event that has no list of its own: bell, desktop, speech, command CMD, or one of webhook, slack, discord, telegram, ntfy and email with env:NAME or file:PATH, where the address stands; off is nobody"`
	Ended    []string `json:"ended,omitempty" doc:"who receives that a loop ended, instead of to"`
	NeedsYou []string `json:"needs_you,omitempty" doc:"who receives that a loop needs you, instead of to: a task was blocked or skipped, protected files were changed, tests wait for approval, a login is needed"`
	Wait     []string `json:"wait,omitempty" doc:"who receives that a wait for a usage limit begins or is over, instead of to"`
	Budget   []string `json:"budget,omitempty" doc:"who receives that 75 % or 90 % of max_cost or max_tokens are spent, instead of to"`
	Quiet    string   `json:"quiet,omitempty" doc:"hours of the day in which nothing is sent, such as 22:00-07:00; when they end, you are told what still needs you, and of loops that ended"`
	Answers  []string `json:"answers,omitempty" doc:"whose replies to a question or an approval count: telegram or slack as above, then from and the ids of senders, such as telegram env:TELEGRAM_URL from 4242; a repository's file may not set it"`
}

// ReceiversFor returns the receivers of an event. Settings that cannot be parsed were
// refused when the loop started.
func (s Settings) ReceiversFor(e Event) []Receiver {
	list := map[Event][]string{Ended: s.Ended, NeedsYou: s.NeedsYou, Wait: s.Wait, Budget: s.Budget}[e]
	if len(list) == 0 {
		list = s.To
	}
	if e == Test {
		list = s.AllReceivers()
	}
	var out []Receiver
	for _, text := range list {
		if r, err := ParseReceiver(text); err == nil && r.Kind != Off {
			out = append(out, r)
		}
	}
	return out
}

// QuietUntil returns the end of the quiet hours that a local time lies in, or the zero time
// outside of quiet hours.
func (s Settings) QuietUntil(at time.Time) time.Time {
	q, err := parseQuietHours(s.Quiet)
	if err != nil || !q.contains(at) {
		return time.Time{}
	}
	end := time.Date(at.Year(), at.Month(), at.Day(), 0, q.endMinute, 0, 0, at.Location())
	if !end.After(at) {
		end = end.AddDate(0, 0, 1)
	}
	return end
}

// AllReceivers returns the receivers of any event, each once.
func (s Settings) AllReceivers() []string {
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

// String returns the receiver as it is written in the configuration. It has no address.
func (r Receiver) String() string { return strings.TrimSpace(string(r.Kind) + " " + r.Arg) }

// IsLocal reports whether the receiver runs nothing and sends nothing to another machine,
// so that a repository may name it without the user's trust.
func (r Receiver) IsLocal() bool { return slices.Contains([]Kind{Off, Bell, Desktop, Speech}, r.Kind) }

// ParseReceiver parses "desktop", "command CMD", "slack env:NAME" or "slack file:PATH". It
// refuses an address: that may hold a secret, and settings are copied to spec.json and logs.
func ParseReceiver(text string) (Receiver, error) {
	kind, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
	r := Receiver{Kind: Kind(kind), Arg: strings.TrimSpace(arg)}
	name, isEnv := strings.CutPrefix(r.Arg, "env:")
	path, isFile := strings.CutPrefix(r.Arg, "file:")
	switch {
	case !slices.Contains(Kinds(), r.Kind):
		return r, errors.New("want off, bell, desktop, speech, command CMD, or webhook, slack, discord, telegram, ntfy or email with env:NAME or file:PATH")
	case r.IsLocal() && r.Arg != "":
		return r, fmt.Errorf("%s cannot be combined", r.Kind)
	case r.Kind == Command && r.Arg == "":
		return r, errors.New("command needs the command to run, such as  command ./tell.sh")
	case r.IsLocal(), r.Kind == Command:
	case isEnv && name != "" && !strings.ContainsAny(name, " =:/"), isFile && path != "":
	default:
		return r, fmt.Errorf("%s needs env:NAME or file:PATH, which holds its address: an address may contain a secret", r.Kind)
	}
	return r, nil
}

// quietHours are in minutes after midnight. They may pass midnight.
type quietHours struct{ startMinute, endMinute int }

// CheckQuietHours returns what is wrong with the hours, or nil.
func CheckQuietHours(text string) error { _, err := parseQuietHours(text); return err }

// parseQuietHours parses 22:00-07:00. An empty text means no quiet hours.
func parseQuietHours(text string) (quietHours, error) {
	if text == "" {
		return quietHours{}, nil
	}
	from, to, _ := strings.Cut(text, "-")
	begin, err := time.Parse("15:04", strings.TrimSpace(from))
	end, endErr := time.Parse("15:04", strings.TrimSpace(to))
	if err != nil || endErr != nil || begin.Equal(end) {
		return quietHours{}, errors.New("want two times of the day, such as 22:00-07:00")
	}
	return quietHours{begin.Hour()*60 + begin.Minute(), end.Hour()*60 + end.Minute()}, nil
}

// contains reports whether a time lies in the quiet hours.
func (q quietHours) contains(at time.Time) bool {
	now := at.Hour()*60 + at.Minute()
	if q.startMinute <= q.endMinute {
		return q.startMinute <= now && now < q.endMinute
	}
	return now >= q.startMinute || now < q.endMinute
}
