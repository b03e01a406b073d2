package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// attended tells whether a person is at the terminal to answer.
func attended(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// awaits tells a person at the terminal what the standard input is read for:
// silence looks like a tool that hangs.
func (a *app) awaits(what string) {
	if attended(a.In) {
		_, _ = fmt.Fprintf(a.Err, "pawl: waiting on the standard input for %s\n", what)
	}
}

// ask puts a question on the standard error and reads one line, in small
// letters. The end of the input is an empty answer.
func (a *app) ask(question string) (string, error) {
	_, _ = io.WriteString(a.Err, question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return strings.ToLower(strings.TrimSpace(answer)), nil
}
