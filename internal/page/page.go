// Package page shows loops in a browser, and steers them from there: all loops in three
// groups (needs you, working, ended), and one loop with its tasks, its attempts, the
// gates' output and the figures of its report.
//
//	h, err := page.New(page.Options{Source: source, Token: page.NewToken()})
//	err = page.Serve(ctx, listener, h)
//
// The package turns facts into HTML and decides nothing. What it shows comes from a
// Source and from package report; what the user does is a command line of Pawl's, run by
// the Source. Text of agents and gates is escaped by html/template.
//
// Files: access.go says who may read and act, act.go which commands a page may run,
// live.go notifies browsers of changes; Serve has the timeouts.
package page

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/pawl-dev/pawl/internal/record"
	"github.com/pawl-dev/pawl/internal/report"
)

// Source provides what the pages show, and runs their commands. Its methods are called from several
// goroutines at once. An unknown loop or task is an error that wraps fs.ErrNotExist.
type Source interface {
	// Loops returns the summaries of all loops that are shown.
	Loops() ([]record.Summary, error)
	// Loop returns one loop in detail, with its newest attempts, MaxAttempts of them, or
	// with the one of this number alone (0: the newest).
	Loop(ctx context.Context, id string, attempt int) (Detail, error)
	// Calls returns the agent's tool calls of an attempt, oldest first, and how many more
	// there were that are not stored.
	Calls(ctx context.Context, id string, iteration int) (calls []record.Call, dropped int, err error)
	// Diff returns what a task changed.
	Diff(ctx context.Context, id, task string) (string, error)
	// Stamp returns a text that changes when a loop changes; id "" means any loop.
	Stamp(id string) (string, error)
	// Command runs pawl with these arguments to its end, and returns what it printed.
	Command(ctx context.Context, args ...string) (string, error)
}

// Detail is one loop.
type Detail struct {
	Summary  record.Summary
	Headline string // its state in one line
	Report   report.Loop
	Attempts []Attempt // oldest first
	History  []string  // of these attempts, a line each, oldest first
}

// Attempt is one iteration: what happened, what was decided, and what the gates printed.
type Attempt struct {
	Number int
	Task   string
	Steps  []Step
	Gates  []Gate
}

// Step is one event with the decision that it led to.
type Step struct {
	At                 string // time of day
	Event              string
	Decisions, Reasons []string
}

// Gate is one run of a gate.
type Gate struct{ Name, Status, Took, Output string }

// Options of the pages.
type Options struct {
	Source Source
	Token  string           // gives permission to act; see NewToken
	Names  []string         // further host names under which the pages may be asked for
	Locked bool             // reading needs the token too
	Now    func() time.Time // nil: time.Now
}

//go:embed assets
var assets embed.FS

// server answers requests.
type server struct {
	Options
	pages        *template.Template
	files        map[string]file // what a page loads, by its path
	streamSlots  chan struct{}   // of live streams
	commandSlots chan struct{}   // of commands

	mu     sync.Mutex
	stamps map[string]stamp
	listed []record.Summary // as of listedAt and listedStamp
	list   stamp
}

// stamp is a cached result of Source.Stamp.
type stamp struct {
	text string
	at   time.Time
}

// New returns the handler of all pages.
func New(o Options) (http.Handler, error) {
	if o.Token == "" {
		return nil, errors.New("pages need a token")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &server{Options: o, streamSlots: make(chan struct{}, maxStreams), commandSlots: make(chan struct{}, maxCommands), files: map[string]file{}, stamps: map[string]stamp{}}
	s.pages = template.Must(report.Templates().ParseFS(assets, "assets/*.html"))
	for name, kind := range map[string]string{"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"} {
		data, _ := assets.ReadFile("assets/" + name) // it is embedded
		s.files["/"+name] = file{kind, data}
	}
	s.files["/style.css"] = file{s.files["/style.css"].kind, append([]byte(report.Style()), s.files["/style.css"].data...)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.serveOverview)
	mux.HandleFunc("GET /loop/{id}", s.serveLoop)
	mux.HandleFunc("GET /loop/{id}/attempt/{number}", s.serveAttempt)
	mux.HandleFunc("GET /loop/{id}/diff/{task}", s.serveDiff)
	mux.HandleFunc("GET /events", s.serveEvents)
	mux.HandleFunc("POST /{$}", s.startLoop)
	mux.HandleFunc("POST /loop/{id}", s.serveAction)
	mux.HandleFunc("POST /session", s.serveSession)
	for path := range s.files {
		mux.HandleFunc("GET "+path, s.serveFile)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		s.renderProblem(w, http.StatusNotFound, "there is no such page")
	})
	return s.withSecurity(mux), nil
}

// file is a file that pages load, with its content type.
type file struct {
	kind string
	data []byte
}

func (s *server) serveFile(w http.ResponseWriter, r *http.Request) {
	f := s.files[r.URL.Path]
	w.Header().Set("Content-Type", f.kind)
	_, _ = w.Write(f.data)
}

// render executes a template and sends the result, unless the template fails.
func (s *server) render(w http.ResponseWriter, code int, name string, data any) {
	var page bytes.Buffer
	if err := s.pages.ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, "the page cannot be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes())
}

// layout is the data that all pages have.
type layout struct {
	Title string
	Loop  string // whose changes are followed; "" = those of all
	Live  bool
	Lock  bool // the page asks for the token
}

type errorPage struct {
	layout
	Text string
}

func (s *server) renderProblem(w http.ResponseWriter, code int, text string) {
	s.render(w, code, "problem", errorPage{layout{Title: http.StatusText(code)}, text})
}

// renderError answers with an error of the Source.
func (s *server) renderError(w http.ResponseWriter, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		s.renderProblem(w, http.StatusNotFound, "there is no such loop, or no such task in it")
		return
	}
	s.renderProblem(w, http.StatusInternalServerError, err.Error())
}

// Serve answers requests until ctx ends, and then waits a moment for running requests.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	srv := &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return live },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: commandTimeout + 15*time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 32 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve pages: %w", err)
	case <-ctx.Done():
	}
	end() // live streams have no end of their own
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	err := srv.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("end serving pages: %w", err)
	}
	return nil
}
