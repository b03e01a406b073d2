package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/config"
	"github.com/pawl-dev/pawl/internal/core/notice"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/doctor"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/figure"
	"github.com/pawl-dev/pawl/internal/launch"
	"github.com/pawl-dev/pawl/internal/notify"
	"github.com/pawl-dev/pawl/internal/redact"
	"github.com/pawl-dev/pawl/internal/term"
)

// notifyCmd is `pawl notify`.
type notifyCmd struct {
	Test notifyTestCmd `cmd:"" help:"send a test notification and show what each receiver answers"`
}

// notifyTestCmd is `pawl notify test`.
type notifyTestCmd struct {
	Receivers []string `arg:"" optional:"" sep:"none" name:"RECEIVER" help:"receivers as in notify; default: all that are set up here"`
}

// Run sends a test notice to each receiver.
func (c *notifyTestCmd) Run(ctx context.Context, a *app) error {
	root := a.root()
	settings, err := a.notifySettings(root, c.Receivers)
	if err != nil {
		return err
	}
	receivers := settings.ReceiversFor(notice.Test)
	if len(receivers) == 0 {
		return failure.New(failure.Usage, fmt.Sprintf("set them up in pawl.toml:  [notify]  to = [%[1]q];  or name one:  pawl notify test %[1]s", a.availableReceiver()), "no notification receiver is set up")
	}
	n := notice.Notice{Event: notice.Test, Reason: "test", Title: "pawl · test notification", Text: "pawl notify test", Root: root, At: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, notify.SendTimeout)
	defer cancel()
	_, _ = fmt.Fprintf(a.Err, "pawl: sending, with retries for at most %s\n", figure.Duration(notify.SendTimeout))
	failed := a.newSender(root).Send(ctx, n, receivers)
	for _, r := range receivers {
		if err := failed[r]; err != nil {
			a.printf("%s: failed: %s\n", r, plan.OneLine(err.Error(), 0))
			continue
		}
		if r.Kind == notice.Bell && !a.ringBell(n) {
			a.printf("%s: standard error is not a terminal\n", r)
			continue
		}
		a.printf("%s: sent%s\n", r, a.answerSenders(settings, r, root))
	}
	if len(failed) > 0 {
		return codeFailed
	}
	return nil
}

// answerSenders says whose replies to a receiver count, "" if it takes none.
func (a *app) answerSenders(s notice.Settings, r notice.Receiver, root string) string {
	from := s.AnswerSenders(r)
	switch err := a.newSender(root).CheckAnswers(r); {
	case r.Kind != notice.Telegram && r.Kind != notice.Slack:
		return ""
	case err != nil && len(from) > 0:
		return "; nobody can answer there: " + err.Error()
	case len(from) == 0:
		return "; nobody can answer there: notify.answers is empty"
	}
	return "; answers are taken from " + strings.Join(from, ", ")
}

// notifySettings returns the settings of this folder, with the typed receivers. Receivers in the
// repository's files must be trusted.
func (a *app) notifySettings(root string, typed []string) (notice.Settings, error) {
	flags := map[string]any{}
	if len(typed) > 0 {
		flags["notify"] = typed
	}
	settings, err := a.resolve(root, flags)
	if err != nil {
		return notice.Settings{}, err
	}
	commands := slices.DeleteFunc(settings.RepoCommands(), func(c config.Command) bool { return c.Kind != config.KindNotify })
	err = a.requireTrust(root, commands, showTrust)
	return notice.Settings(settings.Notify), err
}

// newSender returns a sender that acts as the user, in the root of a repository.
func (a *app) newSender(root string) notify.Sender {
	return notify.Sender{Vars: a.env.Vars, Dir: root, Home: a.env.Home, Redact: redact.New(a.env.Vars).String}
}

// ringBell rings the terminal's bell and sets its title. It reports whether there is a terminal.
func (a *app) ringBell(n notice.Notice) bool {
	if !isTerminal(a.Err) || a.env.Dumb {
		return false
	}
	fmt.Fprintf(a.Err, "\x1b]2;%s\x07\x07", term.Clean(plan.OneLine(n.Title, 80))) // in one write, because the display writes at the same time
	return true
}

// ringOnNotice makes the loop's notices ring the bell if the user chose it.
func (a *app) ringOnNotice(d *launch.Driver) {
	post := d.Notify
	d.Notify = func(n notice.Notice) {
		wanted := slices.ContainsFunc(d.Spec.Notify.ReceiversFor(n.Event), func(r notice.Receiver) bool { return r.Kind == notice.Bell })
		if wanted && d.Spec.Notify.QuietUntil(time.Now()).IsZero() {
			a.ringBell(n)
		}
		if post != nil {
			post(n)
		}
	}
}

// unreachableReceivers lists the receivers that cannot work here, with the reasons.
func (a *app) unreachableReceivers(s notice.Settings, root string) []string {
	var out []string
	for _, text := range s.AllReceivers() {
		if r, err := notice.ParseReceiver(text); err == nil {
			if err := a.newSender(root).Check(r); err != nil {
				out = append(out, fmt.Sprintf("notifications will not reach %s: %v", r, err))
			}
		}
	}
	for _, text := range s.Answers {
		answers, err := notice.ParseAnswers(text)
		if err == nil {
			err = a.newSender(root).CheckAnswers(answers.Receiver)
		}
		if err != nil {
			out = append(out, fmt.Sprintf("no answers by %s: %v", answers.Receiver, err))
		}
	}
	return out
}

// availableReceiver returns a receiver that this machine has and that needs no account.
func (a *app) availableReceiver() string {
	desktop := notice.Receiver{Kind: notice.Desktop}
	if a.newSender("").Check(desktop) == nil {
		return desktop.String()
	}
	return notice.Receiver{Kind: notice.Bell}.String()
}

// notifyFindings checks for the doctor who is told that a loop here ends or needs you.
func (a *app) notifyFindings(root string) []doctor.Finding {
	const check, fix = "notify", "fix that, or remove it from [notify];  pawl notify test  tests all receivers"
	settings, err := a.notifySettings(root, nil)
	if err != nil {
		return []doctor.Finding{{Check: check, Status: doctor.Warn, What: "no notification when a loop ends or needs you: " + err.Error(), Fix: failure.Hint(err)}}
	}
	var out []doctor.Finding
	for _, words := range a.unreachableReceivers(settings, root) {
		out = append(out, doctor.Finding{Check: check, Status: doctor.Warn, What: words, Fix: fix})
	}
	switch to := settings.AllReceivers(); {
	case len(to) == 0:
		out = append(out, doctor.Finding{
			Check: check, Status: doctor.Warn, What: "no notification when a loop ends or needs you", Fix: fmt.Sprintf("to = [%q] below [notify] in pawl.toml", a.availableReceiver()),
		})
	case len(out) == 0:
		out = append(out, doctor.Finding{Check: check, Status: doctor.OK, What: "notifications: " + figure.Count(len(to), "receiver")})
	}
	return out
}
