package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/pawl-dev/pawl/internal/failure"
)

// isTerminal reports whether a user is at the terminal to answer.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// awaits tells a user at the terminal what the standard input is read for:
// silence looks like a tool that hangs.
func (a *app) awaits(what string) {
	if isTerminal(a.In) {
		_, _ = fmt.Fprintf(a.Err, "pawl: waiting on the standard input for %s\n", what)
	}
}

// ask puts a question on the standard error and reads one line. Nobody answers where the
// input ends at once: that is neither yes nor no, and the hint is what to type instead.
func (a *app) ask(question, instead string) (string, error) {
	_, _ = io.WriteString(a.Err, question)
	answer, err := readLine(a.In)
	if errors.Is(err, io.EOF) && answer == "" {
		_, _ = io.WriteString(a.Err, "\n")
		return "", failure.New(failure.Usage, instead, "nobody answered")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return strings.TrimSpace(answer), nil
}

// confirmation is a question whose answer is yes or no.
type confirmation struct {
	text    string
	enter   bool   // what Enter means
	instead string // what to type where nobody answers
	nobody  string // the error where nobody is at the terminal
}

// confirm reports whether the user says yes.
func (a *app) confirm(q confirmation) (bool, error) {
	if !isTerminal(a.In) {
		return false, failure.New(failure.Usage, q.instead, "%s", q.nobody)
	}
	choices := map[bool]string{true: " [Y/n] ", false: " [y/N] "}[q.enter]
	answer, err := a.ask(q.text+choices, q.instead)
	answer = strings.ToLower(answer)
	return err == nil && (answer == "y" || answer == "yes" || answer == "" && q.enter), err
}

// maxAnswer bounds an answer, in bytes: a command that judges the work may be long.
const maxAnswer = 64 << 10

// readLine reads a line a byte at a time: what lies behind it answers the next question.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < maxAnswer; {
		n, err := r.Read(b)
		if n > 0 {
			line = append(line, b[0])
		}
		if n > 0 && b[0] == '\n' || err != nil {
			return string(line), err
		}
	}
	return string(line), fmt.Errorf("it has more than %d bytes", maxAnswer)
}

// askForGate is ask for questions about the gate.
func (a *app) askForGate(question string) (string, error) {
	return a.ask(question, "--yes takes it; --gate 'CMD' names another")
}

// wantedGate asks for the command that judges the work: the one that is suggested,
// or another. It is "" where the user wants none; no answer begins nothing, for
// without a gate a run spends money on what nothing can verify.
func wantedGate(suggested string, answer func(question string) (string, error)) (string, error) {
	word, err := answer(fmt.Sprintf("use %q as gate? [Y/n] ", suggested))
	if err != nil {
		return "", err
	}
	switch strings.ToLower(word) {
	case "", "y", "yes":
		return suggested, nil
	case "n", "no":
		if word, err = answer("which command instead? (none: without a gate it can only end unverified; Enter stops) "); err != nil {
			return "", err
		}
	}
	switch strings.ToLower(word) {
	case "":
		return "", failure.New(failure.Usage, "--gate 'CMD' names the command that must pass", "nothing was begun: there is no gate")
	case "none":
		return "", nil
	}
	return word, nil
}
