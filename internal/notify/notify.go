// Package notify sends notices (package core/notice) to the receivers that a user chose: the
// desktop, a command, a webhook, a chat service or an e-mail. It also receives answers from chats.
//
// An Outbox starts a process for each notice (`pawl session notify`). So a slow or dead receiver
// delays neither the loop nor a session, and a notice about the end of the loop outlives the loop's
// process. That process sends with a Sender, which retries a limited number of times. The terminal
// bell is the exception: only the process that owns the terminal rings it.
//
// Addresses are in the environment or in a file. They are read when a notice is sent, and never
// appear in an error, log or spec.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/environment"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/proc"
)

const (
	attemptTimeout = 10 * time.Second // of one request
	commandTimeout = 30 * time.Second // of the user's command
	// SendTimeout limits all attempts for one notice.
	SendTimeout     = 2 * time.Minute
	maxAddressBytes = 4 << 10 // size of a file with an address, in bytes
	maxTextChars    = 1500    // length of a notice's text in characters; Discord accepts 2000 in total
	maxOutputBytes  = 4 << 10 // part of a command's or service's output that is kept, in bytes
)

// Sender sends notices. Its zero value has no environment and redacts nothing.
type Sender struct {
	Vars   []string            // environment for addresses and commands, as NAME=value
	Dir    string              // absolute folder of commands and of relative paths
	Home   string              // the user's home folder, for paths that begin with ~/
	Redact func(string) string // removes secrets; nil = no redaction

	// AnswersBy returns the senders who may answer at a receiver; nil = nobody may.
	AnswersBy func(notice.Receiver) []string
	// OnSent is called with the Place of a sent question that can be replied to.
	OnSent func(notice.Receiver, MessageRef)

	pauses []time.Duration // before each retry; see failure.Retry
}

// Send sends a notice to all receivers in parallel. When all have answered or the context ends, it
// returns the errors of those that did not get it.
func (s Sender) Send(ctx context.Context, n notice.Notice, to []notice.Receiver) map[notice.Receiver]error {
	n = s.clean(n)
	failed := map[notice.Receiver]error{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, r := range to {
		wg.Go(func() {
			if err := failure.Retry(ctx, s.pauses, func() error { return s.attempt(ctx, n, r) }); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[r] = err
			}
		})
	}
	wg.Wait()
	return failed
}

// clean removes secrets and limits the text.
func (s Sender) clean(n notice.Notice) notice.Notice {
	n.Title, n.Goal = plan.OneLine(s.redacted(n.Title), 200), s.redacted(n.Goal)
	lines := strings.Split(s.redacted(n.Text), "\n")
	last := len(lines) - 1 // the last line says what to type: it is kept whole
	left := maxTextChars - len(lines[last])
	for i, line := range lines[:last] {
		lines[i] = plan.OneLine(line, max(1, min(500, left)))
		left -= len(lines[i])
	}
	n.Text = strings.TrimSpace(strings.Join(lines, "\n"))
	return n
}

func (s Sender) redacted(text string) string {
	if s.Redact == nil {
		return text
	}
	return s.Redact(text)
}

// attempt sends a notice once.
func (s Sender) attempt(ctx context.Context, n notice.Notice, r notice.Receiver) error {
	switch r.Kind {
	case notice.Off, notice.Bell: // the owner of the terminal rings the bell
		return nil
	case notice.Desktop, notice.Speech:
		argv, err := localArgv(r.Kind, n)
		if err != nil {
			return err
		}
		return s.run(ctx, proc.Spec{Argv: argv, Env: s.Vars})
	case notice.Command:
		return s.runCommand(ctx, n, r.Arg)
	case notice.Email:
		return s.sendMail(ctx, n, r)
	case notice.Webhook, notice.Slack, notice.Discord, notice.Telegram, notice.Ntfy:
		return s.post(ctx, n, r)
	}
	return fmt.Errorf("%s is not a kind of receiver", r.Kind)
}

// Check returns why a receiver cannot work here, as far as this is known without sending anything.
func (s Sender) Check(r notice.Receiver) error {
	switch r.Kind {
	case notice.Desktop, notice.Speech:
		_, err := localArgv(r.Kind, notice.Notice{})
		return err
	case notice.Email:
		_, err := s.mailbox(r)
		return err
	case notice.Webhook, notice.Slack, notice.Discord, notice.Telegram, notice.Ntfy:
		_, err := s.address(r)
		return err
	}
	return nil
}

// CheckAnswers returns why nobody can answer at a receiver, as far as this is known without a
// request.
func (s Sender) CheckAnswers(r notice.Receiver) error {
	u, err := s.address(r)
	if err == nil && !isBot(r.Kind, u) {
		err = errors.New("replies can be read by a bot only: the address ends in chat.postMessage?channel=ID&token=TOKEN")
	}
	return err
}

// localArgv returns the command that shows a notice on the desktop, or speaks it.
func localArgv(kind notice.Kind, n notice.Notice) ([]string, error) {
	words := strings.TrimLeft(strings.ReplaceAll(n.Title, "·", ","), "-") // must not look like an option
	commands, missing := [][]string{{"say", words}, {"spd-say", "--wait", "--", words}, {"espeak-ng", "--", words}}, "neither say nor spd-say nor espeak-ng is installed"
	if kind == notice.Desktop {
		const script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
		commands = [][]string{{"notify-send", "--app-name=pawl", "--", n.Title, markup.Replace(n.Text)}, {"osascript", "-e", script, n.Title, n.Text}}
		missing = "neither notify-send nor osascript is installed"
	}
	for _, argv := range commands {
		if path, err := exec.LookPath(argv[0]); err == nil {
			argv[0] = path
			return argv, nil
		}
	}
	return nil, errors.New(missing)
}

// markup escapes text for Slack, and for the desktop.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// runCommand runs the user's command with the notice as JSON and in its environment.
func (s Sender) runCommand(ctx context.Context, n notice.Notice, command string) error {
	data, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode notice: %w", err)
	}
	env := append([]string{}, s.Vars...)
	for _, v := range [][2]string{
		{"EVENT", string(n.Event)},
		{"REASON", n.Reason},
		{"TITLE", n.Title},
		{"TEXT", n.Text},
		{"LOOP_ID", n.Loop},
		{"GOAL", n.Goal},
		{"ROOT", n.Root},
		{"TASK", n.Task},
		{"OUTCOME", string(n.Outcome)},
	} {
		env = append(env, "PAWL_"+v[0]+"="+strings.ReplaceAll(v[1], "\x00", ""))
	}
	argv, more := proc.Shell(command)
	return s.run(ctx, proc.Spec{Argv: argv, Dir: s.Dir, Env: append(env, more...), Stdin: bytes.NewReader(append(data, '\n'))})
}

// run runs a program. If it fails, the error contains the end of its output.
func (s Sender) run(ctx context.Context, spec proc.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	out := &proc.Tail{MaxBytes: maxOutputBytes}
	spec.Stdout, spec.Stderr, spec.Grace = out, out, time.Second
	exit := proc.Run(ctx, spec)
	said := s.redacted(plan.OneLine(out.String(), 200))
	switch {
	case exit.OK():
		return nil
	case exit.Cancelled:
		return fmt.Errorf("it did not end within %s", commandTimeout)
	case exit.Err != nil:
		return exit.Err
	case said != "":
		return fmt.Errorf("exit %d: %s", exit.Code, said)
	}
	return fmt.Errorf("exit %d", exit.Code)
}

// value returns the value of env:NAME or the content of file:PATH.
func (s Sender) value(arg string) (string, error) {
	if name, ok := strings.CutPrefix(arg, "env:"); ok {
		found := environment.Variable(s.Vars, name)
		if found == "" {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return found, nil
	}
	path := strings.TrimPrefix(arg, "file:")
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(s.Home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	data, err := atomicfile.Read(path, maxAddressBytes)
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		err = pathErr.Err
	}
	if err != nil {
		return "", fmt.Errorf("read the address in %s: %w", strings.TrimPrefix(arg, "file:"), err)
	}
	return strings.TrimSpace(string(data)), nil
}
