package page

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl/internal/core/loop"
)

const (
	maxBodyBytes   = 64 << 10
	maxCommands    = 4 // commands at a time
	commandTimeout = time.Minute
)

// serveAction runs the command that a form of a loop's page asks for, and answers with what it
// printed.
func (s *server) serveAction(w http.ResponseWriter, r *http.Request) {
	if !parseForm(w, r) {
		return
	}
	d, err := s.loadDetail(r, 0)
	if err != nil {
		code := http.StatusInternalServerError
		if errors.Is(err, fs.ErrNotExist) {
			code = http.StatusNotFound
		}
		http.Error(w, err.Error(), code)
		return
	}
	if asked := r.PostForm.Get("asked"); asked != "" && !slices.Contains(d.questionKeys(), asked) {
		http.Error(w, "this is no longer asked: nothing was done", http.StatusConflict)
		return
	}
	do, text := r.PostForm.Get("do"), strings.TrimSpace(r.PostForm.Get("text"))
	if strength, ok := strings.CutPrefix(do, "comment"); ok && text != "" {
		if text, ok = s.comment(r.Context(), d.Summary.ID, r.PostForm); !ok {
			http.Error(w, "the diff no longer has that line: open it again", http.StatusConflict)
			return
		}
		do = "tell" + strength
	}
	args, ok := command(d, do, r.PostForm.Get("task"), text)
	if !ok {
		http.Error(w, "a page cannot do that", http.StatusBadRequest)
		return
	}
	s.runCommand(w, r, args)
}

// parseForm reads the form of a request, and answers it if that fails.
func parseForm(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	err := r.ParseForm()
	if err == nil {
		return true
	}
	code := http.StatusBadRequest
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		code = http.StatusRequestEntityTooLarge
	}
	http.Error(w, http.StatusText(code), code)
	return false
}

// questionKeys returns what the loop asks the user now, a key for each form that answers it. A page
// may be older than the loop: its answer must not count for another question, nor its yes for
// work that it did not show.
func (d Detail) questionKeys() (keys []string) {
	for _, q := range d.Report.State.Unanswered() {
		keys = append(keys, questionKey(q))
	}
	return append(keys, testsKey(d.Summary.Tests))
}

func questionKey(q loop.Question) string {
	return hashKey(q.Task, q.At.UTC().Format(time.RFC3339Nano), q.Text, q.Tree)
}

func testsKey(tests []string) string { return hashKey(tests...) }

func hashKey(of ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\n")))
	return hex.EncodeToString(sum[:8])
}

// startLoop starts a loop in the background, as pawl run --detach does where pawl serve was
// started. Its gates and limits are those of the settings there.
func (s *server) startLoop(w http.ResponseWriter, r *http.Request) {
	if !parseForm(w, r) {
		return
	}
	goal := strings.TrimSpace(r.PostFormValue("text"))
	if goal == "" {
		http.Error(w, "a loop needs a goal", http.StatusBadRequest)
		return
	}
	s.runCommand(w, r, []string{"run", "--detach", "--yes", "--", goal})
}

// runCommand runs a command and answers with what it printed.
func (s *server) runCommand(w http.ResponseWriter, r *http.Request, args []string) {
	select {
	case s.commandSlots <- struct{}{}:
		defer func() { <-s.commandSlots }()
	default:
		http.Error(w, "other commands are running: try again in a moment", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), commandTimeout)
	defer cancel()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	said, err := s.Source.Command(ctx, args...)
	if err != nil {
		w.WriteHeader(http.StatusConflict)
		if said == "" {
			said = err.Error()
		}
	}
	_, _ = w.Write([]byte(said))
}

// command returns the pawl command that a form asks for. It refuses any other command, and a task
// that the loop does not have. text follows "--", so it cannot be an option.
func command(d Detail, do, task, text string) ([]string, bool) {
	id := d.Summary.ID
	if task != "" && !slices.ContainsFunc(d.Report.State.Tasks, func(t loop.Task) bool { return t.ID == task }) {
		return nil, false
	}
	var ofTask []string
	if task != "" {
		ofTask = []string{"--task=" + task}
	}
	switch {
	case do == "tell" && text != "":
		return []string{"tell", id, "--", text}, true
	case do == "tell-now" && text != "":
		return []string{"tell", id, "--now", "--", text}, true
	case do == "answer" && text != "":
		return slices.Concat([]string{"answer", id}, ofTask, []string{"--", text}), true
	case do == "approve":
		return append([]string{"approve", id}, ofTask...), true
	case do == "reject" && text != "":
		return []string{"reject", id, "--why=" + text}, true
	case do == "reject":
		return []string{"reject", id}, true
	case limitOption(do) != "" && text != "":
		return []string{"limit", id, limitOption(do) + "=" + text}, true
	case do == "pause", do == "stop":
		return []string{do, id}, true
	case do == "skip" && task != "", do == "retry" && task != "":
		return []string{"plan", do, id, "--", task}, true
	case do == "restore" && task != "":
		return []string{"restore", id, "--task=" + task, "--yes"}, true
	case do == "undo":
		return []string{"undo", id, "--yes"}, true
	case do == "resume":
		return []string{"resume", id, "--detach"}, true
	}
	return nil, false
}

// limitOption returns the option of pawl limit for a form, or "".
func limitOption(do string) string {
	return map[string]string{
		"limit-iterations": "--max-iterations", "limit-duration": "--max-duration", "limit-cost": "--max-cost", "limit-tokens": "--max-tokens",
	}[do]
}
