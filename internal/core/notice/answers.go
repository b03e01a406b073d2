package notice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answers says whose replies to the questions sent to a receiver count as the user's.
type Answers struct {
	Receiver Receiver
	Senders  []string // ids of senders, as the service gives them
}

// AnswerSenders returns the ids of the senders whose replies from a receiver count. Settings
// that cannot be parsed were refused when the loop started.
func (s Settings) AnswerSenders(r Receiver) []string {
	var from []string
	for _, text := range s.Answers {
		if a, err := ParseAnswers(text); err == nil && a.Receiver == r {
			from = append(from, a.Senders...)
		}
	}
	return from
}

// ParseAnswers parses "telegram env:NAME from 42, 43". A repository must not choose the
// address, so it is in the environment or in a file with an absolute path.
func ParseAnswers(text string) (Answers, error) {
	receiver, from, named := strings.Cut(text, " from ")
	r, err := ParseReceiver(receiver)
	path, isFile := strings.CutPrefix(r.Arg, "file:")
	switch {
	case err != nil:
		return Answers{}, err
	case r.Kind != Telegram && r.Kind != Slack:
		return Answers{}, fmt.Errorf("%s takes no answers: want telegram or slack", r.Kind)
	case isFile && !isAbsolute(path):
		return Answers{}, errors.New("the file with the address needs a whole path, such as file:~/.telegram")
	}
	a := Answers{Receiver: r, Senders: strings.FieldsFunc(from, func(c rune) bool { return c == ' ' || c == ',' })}
	if !named || len(a.Senders) == 0 {
		return Answers{}, errors.New("want who may answer, such as  telegram env:TELEGRAM_URL from 4242")
	}
	for _, id := range a.Senders {
		if !isSenderID(r.Kind, id) {
			return Answers{}, fmt.Errorf("%q is not the id of a sender: want 4242 of telegram, U0123ABCD of slack; names can be taken by others", id)
		}
	}
	return a, nil
}

// isSenderID reports whether an id has the format of the service's sender ids.
func isSenderID(kind Kind, id string) bool {
	digit := func(c rune) bool { return c >= '0' && c <= '9' }
	if kind == Telegram {
		return !strings.ContainsFunc(id, func(c rune) bool { return !digit(c) })
	}
	return len(id) > 1 && slices.Contains([]byte("UW"), id[0]) &&
		!strings.ContainsFunc(id, func(c rune) bool { return !digit(c) && (c < 'A' || c > 'Z') })
}

// isAbsolute reports whether a path is absolute on any system, or begins with ~/.
func isAbsolute(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~/") || len(path) > 2 && path[1:3] == `:\`
}
