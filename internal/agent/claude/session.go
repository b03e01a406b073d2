package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/core/plan"
	"github.com/pawl-dev/pawl/internal/proc"
)

const (
	interruptTimeout = 5 * time.Second // measured: 23 ms; 1.4 s in a tool
	exitTimeout      = 3 * time.Second // measured: 40 ms
	queueLength      = 1024            // messages to a client that does not read
	stderrTail       = 4 << 10
)

var (
	errGone = errors.New("the client has ended")
	errSlow = errors.New("the client does not answer")
)

// session is one client process. Its stream has one reader at any time: the
// running turn or, between turns, idle; what they read is theirs alone.
type session struct {
	o       agent.Options
	p       *proc.Process
	kill    context.CancelFunc
	log     *logFile
	stderr  *proc.Tail // to be read after the process has ended
	toStdin chan []byte
	items   chan item // closed at the end of the stream
	closing chan struct{}
	close   sync.Once
	mounted *toolBridge // nil: there are no tools

	startState  func() string // see Agent.startState
	startedFrom string        // the state at the start

	turns    sync.Mutex // one turn at a time
	stopIdle chan struct{}
	idleDone chan struct{}

	idMu sync.Mutex
	id   string

	stream // owned by the stream's reader
}

// stream is the state of the session according to its lines.
type stream struct {
	requests int             // control requests sent, for their ids
	busy     bool            // the model is working: there was a request and no result yet
	tasks    []task          // running background work
	waited   map[string]bool // tasks for which a turn has waited in vain
	meter    meter
	model    string
	window   int64        // size of the model's context, 0 = unknown
	told     bool         // an init event was emitted for this context
	started  startReport  // of the process
	noted    *startReport // where lines are noted: started, but while a context is cleared
}

// spawn starts the process and the goroutines that carry its streams.
func (a Agent) spawn(ctx context.Context, o agent.Options) (*session, error) {
	log := &logFile{redact: o.Redact}
	if err := log.moveTo(o.LogPath); err != nil {
		return nil, err
	}
	pr, pw := io.Pipe()
	s := &session{
		o: o, log: log, stderr: &proc.Tail{MaxBytes: stderrTail}, toStdin: make(chan []byte, queueLength),
		items: make(chan item), closing: make(chan struct{}), id: o.Resume,
		stream: stream{waited: map[string]bool{}}, startState: func() string { return a.startState(o) },
	}
	s.startedFrom, s.noted = s.startState(), &s.started
	// The session outlives the context of its start; Close ends it.
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	s.kill = kill
	var err error
	s.p, err = proc.Start(life, proc.Spec{
		Argv: slices.Concat(o.Prefix, a.argv(o)), Dir: o.Dir, Env: environ(o.Env), Marker: o.Marker,
		PipeStdin: true, Stdout: pw, Stderr: s.stderr,
	})
	if err != nil {
		kill()
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		s.p.Wait()
		_ = pw.Close()
	}()
	s.mounted = newToolBridge(o.Tools, s.send)
	go s.write()
	go s.read(pr)
	return s, nil
}

// read decodes the stream to its end.
func (s *session) read(pr *io.PipeReader) {
	defer close(s.items)
	defer pr.Close()
	pass := func(it item) bool {
		select {
		case s.items <- it:
			return true
		case <-s.closing:
			return false
		}
	}
	if err := errors.Join(readLines(io.TeeReader(pr, s.log), pass), s.log.Close()); err != nil {
		pass(item{note: err.Error()}) // a full disk under the log
	}
}

// write sends the queue to the client, which may be slow to read, so that no caller waits.
func (s *session) write() {
	for {
		select {
		case b := <-s.toStdin:
			if _, err := s.p.Stdin().Write(b); err != nil {
				return // the end of the stream reports it
			}
		case <-s.p.Done():
			return
		}
	}
}

// send queues a message.
func (s *session) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	select {
	case <-s.p.Done():
		return errGone
	default:
	}
	select {
	case s.toStdin <- append(b, '\n'):
		return nil
	default:
		return errSlow
	}
}

// ask sends a control request and returns its id.
func (s *session) ask(subtype string) (string, error) {
	s.requests++
	id := fmt.Sprintf("pawl-%d", s.requests)
	if subtype == "initialize" {
		return id, s.send(initializeRequest(id, s.mounted.names()))
	}
	return id, s.send(request(id, subtype))
}

// handleUntil handles the stream until done accepts a line.
func (s *session) handleUntil(ctx context.Context, handle func(item), done func(line) bool) error {
	for {
		select {
		case it, ok := <-s.items:
			if !ok {
				return errGone
			}
			handle(it)
			if it.note == "" && done(it.line) {
				return nil
			}
		case <-ctx.Done():
			return errSlow
		}
	}
}

// answerTo accepts the answer to a control request.
func answerTo(id string, into *controlResponse) func(line) bool {
	return func(l line) bool {
		if l.Type != "control_response" || l.Response.RequestID != id {
			return false
		}
		*into = l.Response
		return true
	}
}

// call sends a control request and waits for the answer.
func (s *session) call(ctx context.Context, subtype string, handle func(item)) (json.RawMessage, error) {
	id, err := s.ask(subtype)
	if err != nil {
		return nil, err
	}
	var r controlResponse
	if err := s.handleUntil(ctx, handle, answerTo(id, &r)); err != nil {
		return nil, err
	}
	if r.Subtype != "success" {
		return nil, fmt.Errorf("%s: %s", subtype, r.Error)
	}
	return r.Response, nil
}

// interrupt stops the client's work, by force if it does not obey. It takes its
// own time: the context of the turn may be over.
func (s *session) interrupt(ctx context.Context, handle func(item)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptTimeout)
	defer cancel()
	_, err := s.ask("interrupt")
	if err == nil {
		err = s.handleUntil(ctx, handle, func(l line) bool { return l.Type == "result" })
	}
	if err != nil {
		s.kill()
	}
	s.busy = false
}

// initialize registers the guard. Of a session taken up again it learns how
// many tokens were used before, so that they are not counted twice; what it had
// cost the caller knows best, see Options.PriorCostUSD.
func (s *session) initialize(ctx context.Context) error {
	_, err := s.call(ctx, "initialize", s.handleIdle)
	if err == nil && s.o.Resume != "" {
		var raw json.RawMessage
		if raw, err = s.call(ctx, "get_usage", s.handleIdle); err == nil {
			before, _ := usageOf(raw)
			s.meter = meter{counted: before, now: before}
			s.meter.counted.CostUSD = s.o.PriorCostUSD
		}
	}
	if errors.Is(err, errGone) {
		return s.exitError()
	}
	return err
}

// exitError returns the error of a client that has ended.
func (s *session) exitError() error {
	e := s.p.Wait()
	how := fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != "" {
		how = "signal: " + e.Signal
	}
	if words := plan.OneLine(lastLine(s.stderr.String()), maxMessage); words != "" {
		return fmt.Errorf("the client ended (%s): %s", how, words)
	}
	return fmt.Errorf("the client ended (%s)", how)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// observe updates the state of the session.
func (s *session) observe(l line) {
	if l.SessionID != "" && l.Type != "conversation_reset" {
		s.setID(l.SessionID)
	}
	if l.Type == "system" {
		s.noted.note(l)
	}
	switch {
	case l.Type == "system" && l.Subtype == "init":
		s.busy, s.model = true, l.Model
	case l.Type == "assistant":
		s.busy = true
	case l.Type == "system" && l.Subtype == "background_tasks_changed":
		s.tasks = l.Tasks
	case l.Type == "result":
		s.busy = false
		s.meter.update(sumUsage(l.ModelUsage, l.TotalCostUSD))
		if m, ok := l.ModelUsage[s.model]; ok && m.ContextWindow > 0 {
			s.window = int64(m.ContextWindow)
		}
	}
}

// startIdleReader starts idle as the reader of the stream. stopIdleReader stops it.
func (s *session) startIdleReader() {
	s.stopIdle, s.idleDone = make(chan struct{}), make(chan struct{})
	go s.idle(s.stopIdle, s.idleDone)
}

func (s *session) stopIdleReader() {
	close(s.stopIdle)
	<-s.idleDone
}

// idle reads the stream between turns.
func (s *session) idle(stop, done chan struct{}) {
	defer close(done)
	for {
		select {
		case it, ok := <-s.items:
			if !ok {
				return
			}
			s.handleIdle(it)
		case <-stop:
			return
		}
	}
}

// handleIdle handles lines that arrive while no turn runs: finished background work
// may have woken the client. The tree must not change now, because gates may run
// on it.
func (s *session) handleIdle(it item) {
	l := it.line
	s.observe(l)
	if l.Type != "control_request" {
		return
	}
	if l.Request.Subtype == "hook_callback" {
		_ = s.send(response(l.RequestID, permission(false, "No turn is running. End this one; you will be called again.")))
		return
	}
	s.answerOther(l)
}

// answerOther answers the client's requests other than tool calls.
func (s *session) answerOther(l line) {
	if l.Request.Subtype != "mcp_message" || !s.mounted.forward(l) {
		_ = s.send(unsupported(l.RequestID))
	}
}

// ID returns the session's id, which Fresh changes.
func (s *session) ID() string {
	s.idMu.Lock()
	defer s.idMu.Unlock()
	return s.id
}

func (s *session) setID(id string) {
	s.idMu.Lock()
	defer s.idMu.Unlock()
	s.id = id
}

// Close lets an idle client exit, then ends it and all that it started.
func (s *session) Close() error {
	s.close.Do(func() {
		if s.atRest() {
			s.end(exitTimeout)
			return
		}
		s.end(0)
	})
	return nil
}

// atRest reports whether nothing runs in the client. It would finish running work before it exits.
func (s *session) atRest() bool {
	if !s.turns.TryLock() {
		return false
	}
	defer s.turns.Unlock()
	s.stopIdleReader()
	defer s.startIdleReader()
	return !s.busy && len(s.tasks) == 0
}

// end ends the process, by force after the timeout.
func (s *session) end(timeout time.Duration) {
	_ = s.p.Stdin().Close()
	select {
	case <-s.p.Done():
	case <-time.After(timeout):
	}
	s.kill()
	s.p.Wait()
	for range s.items { // the log is complete once its reader has ended
	}
	s.mounted.close()
	close(s.closing)
}
