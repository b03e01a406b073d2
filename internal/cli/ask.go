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

// announceRead says at a terminal what standard input is read for. Without it, Pawl would seem to hang.
func (a *app) announceRead(what string) {
	if isTerminal(a.In) {
		_, _ = fmt.Fprintf(a.Err, "pawl: waiting on the standard input for %s\n", what)
	}
}

// ask prints a question on standard error and reads one line. At the end of input, it returns an error
// whose hint says what to type instead: an empty answer is neither yes nor no.
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
	instead string // the hint if nobody answers
	nobody  string // the error if standard input is no terminal
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

// maxAnswerBytes is the maximum length of an answer, in bytes. A gate command may be long.
const maxAnswerBytes = 64 << 10

// readLine reads one line, byte by byte: the rest of the input answers the next question.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < maxAnswerBytes; {
		n, err := r.Read(b)
		if n > 0 {
			line = append(line, b[0])
		}
		if n > 0 && b[0] == '\n' || err != nil {
			return string(line), err
		}
	}
	return string(line), fmt.Errorf("it has more than %d bytes", maxAnswerBytes)
}

// askForGate asks a question about the gate.
func (a *app) askForGate(question string) (string, error) {
	return a.ask(question, "--yes takes it; --gate 'CMD' names another")
}

// wantedGate asks for the gate command: the suggested one or another. It returns "" if the user wants
// none. An empty answer is an error, because a run without a gate spends money on work that nothing
// can verify.
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
		return "", failure.New(failure.Usage, "--gate 'CMD' names the command that must pass", "no loop was started: there is no gate")
	case "none":
		return "", nil
	}
	return word, nil
}
