package notice

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answers says whose replies to the questions that a receiver is sent count as the
// user's.
type Answers struct {
	Receiver Receiver
	From     []string // ids of senders, as the service gives them
}

// AnswersBy returns the senders whose replies by a receiver count, none if nobody's do.
// What cannot be parsed was refused when the loop began.
func (s Settings) AnswersBy(r Receiver) []string {
	var from []string
	for _, text := range s.Answers {
		if a, err := ParseAnswers(text); err == nil && a.Receiver == r {
			from = append(from, a.From...)
		}
	}
	return from
}

// ParseAnswers reads "telegram env:NAME from 42, 43". The address must be the user's own,
// so it stands in the environment or at a path that no repository can be at.
func ParseAnswers(text string) (Answers, error) {
	receiver, from, named := strings.Cut(text, " from ")
	r, err := ParseReceiver(receiver)
	path, isFile := strings.CutPrefix(r.Arg, "file:")
	switch {
	case err != nil:
		return Answers{}, err
	case r.Kind != Telegram && r.Kind != Slack:
		return Answers{}, fmt.Errorf("%s takes no answers: want telegram or slack", r.Kind)
	case isFile && !isWhole(path):
		return Answers{}, errors.New("the file with the address needs a whole path, such as file:~/.telegram")
	}
	a := Answers{Receiver: r, From: strings.FieldsFunc(from, func(c rune) bool { return c == ' ' || c == ',' })}
	if !named || len(a.From) == 0 {
		return Answers{}, errors.New("want who may answer, such as  telegram env:TELEGRAM_URL from 4242")
	}
	for _, id := range a.From {
		if !isSender(r.Kind, id) {
			return Answers{}, fmt.Errorf("%q is not the id of a sender: want 4242 of telegram, U0123ABCD of slack; names can be taken by others", id)
		}
	}
	return a, nil
}

// isSender reports whether an id has the form of the service's.
func isSender(kind Kind, id string) bool {
	digit := func(c rune) bool { return c >= '0' && c <= '9' }
	if kind == Telegram {
		return !strings.ContainsFunc(id, func(c rune) bool { return !digit(c) })
	}
	return len(id) > 1 && slices.Contains([]byte("UW"), id[0]) &&
		!strings.ContainsFunc(id, func(c rune) bool { return !digit(c) && (c < 'A' || c > 'Z') })
}

// isWhole reports whether a path means the same file from every folder.
func isWhole(path string) bool {
	return strings.HasPrefix(path, "/") || strings.HasPrefix(path, "~/") || len(path) > 2 && path[1:3] == `:\`
}
