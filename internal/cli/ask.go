package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/pawl-dev/pawl/internal/failure"
)

// attended tells whether a user is at the terminal to answer.
func attended(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// awaits tells a user at the terminal what the standard input is read for:
// silence looks like a tool that hangs.
func (a *app) awaits(what string) {
	if attended(a.In) {
		_, _ = fmt.Fprintf(a.Err, "pawl: waiting on the standard input for %s\n", what)
	}
}

// ask puts a question on the standard error and reads one line, in small
// letters. The end of the input is an empty answer.
func (a *app) ask(question string) (string, error) {
	answer, err := a.answer(question)
	return strings.ToLower(answer), err
}

// answer is the same as it was typed.
func (a *app) answer(question string) (string, error) {
	_, _ = io.WriteString(a.Err, question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return strings.TrimSpace(answer), nil
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
