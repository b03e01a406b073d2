// Package trackertest is a GitHub server for tests. It serves the part of the API that Pawl uses, with
// data in memory, on a Unix socket that the real gh connects to.
package trackertest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Login is the user that gh is logged in as.
const Login = "ann"

// Issue is an issue of OWNER/REPO, which is o/r.
type Issue struct {
	Number    int      `json:"number"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	Closed    bool     `json:"closed"`
	Pull      bool     `json:"pull"`
	Labels    []string `json:"labels"`
	Assignees []string `json:"assignees"`
	Sub       []int    `json:"sub"`
	BlockedBy []int    `json:"blocked_by"`
	Comments  []string `json:"comments"`
}

// Fault is an error response.
type Fault struct {
	Status  int
	Header  map[string]string
	Message string
}

// GitHub is the server.
type GitHub struct {
	mu           sync.Mutex
	issues       []*Issue
	faults       map[string]Fault // by "METHOD /path", without the query
	readOnly     bool
	requests     []string // the requests, as "METHOD /path"
	lostRequest  int      // the request, counted from 1, whose response is lost; 0 = none
	lostExecuted bool     // the server executes that request
}

// New returns a server with issues.
func New(issues ...Issue) *GitHub {
	g := &GitHub{faults: map[string]Fault{}}
	for _, i := range issues {
		g.issues = append(g.issues, &i)
	}
	return g
}

// FailRequests makes the server answer a request, such as "GET /repos/o/r/issues/12", with a fault.
func (g *GitHub) FailRequests(request string, f Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults[request] = f
}

// SetReadOnly makes the server ignore assignments, as GitHub does for a login without write access.
func (g *GitHub) SetReadOnly() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readOnly = true
}

// LoseResponse loses the nth request from now on, or only its response if executed is true.
func (g *GitHub) LoseResponse(nth int, executed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lostRequest, g.lostExecuted = len(g.requests)+nth, executed
}

// Issue returns the state of an issue.
func (g *GitHub) Issue(number int) Issue {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := g.find(number); i != nil {
		return *i
	}
	return Issue{}
}

// Start serves on a socket in dir, which must be short, and returns the environment in
// which gh uses it. The caller calls stop.
func (g *GitHub) Start(dir string) (env []string, stop func(), err error) {
	socket := filepath.Join(dir, "gh.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, nil, err
	}
	server := &http.Server{Handler: g}
	go func() { _ = server.Serve(l) }()
	stop = func() { _ = server.Close() }
	config := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(config, []byte("http_unix_socket: "+socket+"\n"), 0o600); err != nil {
		stop()
		return nil, nil, err
	}
	return []string{"GH_CONFIG_DIR=" + dir, "GH_TOKEN=secret-of-ann", "GH_HOST=", "GH_REPO=o/r"}, stop, nil
}

// Serve starts the server for a test.
func (g *GitHub) Serve(t testing.TB) (env []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "gh") //nolint:usetesting // t.TempDir is too long a path for a socket
	if err != nil {
		t.Fatal(err)
	}
	env, stop, err := g.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = os.RemoveAll(dir) })
	return env
}

func (g *GitHub) find(number int) *Issue {
	for _, i := range g.issues {
		if i.Number == number {
			return i
		}
	}
	return nil
}

// ServeHTTP answers a request.
func (g *GitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	request := r.Method + " " + r.URL.Path
	if g.requests = append(g.requests, request); len(g.requests) == g.lostRequest {
		if g.lostExecuted {
			g.serve(httptest.NewRecorder(), r, request)
		}
		panic(http.ErrAbortHandler)
	}
	g.serve(w, r, request)
}

func (g *GitHub) serve(w http.ResponseWriter, r *http.Request, request string) {
	if f, ok := g.faults[request]; ok {
		for name, value := range f.Header {
			w.Header().Set(name, value)
		}
		respond(w, f.Status, map[string]string{"message": f.Message})
		return
	}
	if r.Header.Get("Authorization") != "token secret-of-ann" {
		respond(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	if request == "GET /user" {
		respond(w, http.StatusOK, map[string]string{"login": Login})
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/repos/o/r/issues")
	if !ok {
		respondNotFound(w)
		return
	}
	parts := strings.Split(strings.Trim(rest, "/"), "/")
	if parts[0] == "" {
		g.list(w, r)
		return
	}
	n, _ := strconv.Atoi(parts[0])
	issue := g.find(n)
	if issue == nil {
		respondNotFound(w)
		return
	}
	g.serveIssue(w, r, issue, strings.Join(parts[1:], "/"))
}

// list answers GET /repos/o/r/issues.
func (g *GitHub) list(w http.ResponseWriter, r *http.Request) {
	var found []*Issue
	for _, i := range g.issues {
		labels := strings.Split(r.URL.Query().Get("labels"), ",")
		missing := slices.ContainsFunc(labels, func(l string) bool { return l != "" && !slices.Contains(i.Labels, l) })
		if !i.Closed && !missing {
			found = append(found, i)
		}
	}
	g.respondPage(w, r, found)
}

// serveIssue answers requests about one issue.
func (g *GitHub) serveIssue(w http.ResponseWriter, r *http.Request, i *Issue, what string) {
	var body struct {
		Body              string
		Assignees, Labels []string
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch request := r.Method + " " + what; {
	case request == "GET ":
		respond(w, http.StatusOK, shown(i))
	case request == "GET sub_issues":
		g.respondPage(w, r, g.all(i.Sub))
	case request == "GET dependencies/blocked_by":
		g.respondPage(w, r, g.all(i.BlockedBy))
	case request == "GET comments":
		var out []any
		for _, c := range page(r, i.Comments) {
			out = append(out, map[string]string{"body": c})
		}
		respond(w, http.StatusOK, append([]any{}, out...))
	case request == "POST comments":
		i.Comments = append(i.Comments, body.Body)
		respond(w, http.StatusCreated, map[string]string{"body": body.Body})
	case request == "POST assignees":
		if !g.readOnly {
			i.Assignees = append(i.Assignees, body.Assignees...)
		}
		respond(w, http.StatusCreated, shown(i))
	case request == "DELETE assignees":
		i.Assignees = slices.DeleteFunc(i.Assignees, func(a string) bool { return slices.Contains(body.Assignees, a) })
		respond(w, http.StatusOK, shown(i))
	case request == "POST labels":
		i.Labels = append(i.Labels, body.Labels...)
		respond(w, http.StatusOK, []any{})
	case strings.HasPrefix(request, "DELETE labels/"):
		name := strings.TrimPrefix(request, "DELETE labels/")
		i.Labels = slices.DeleteFunc(i.Labels, func(l string) bool { return l == name })
		respond(w, http.StatusOK, []any{})
	default:
		respondNotFound(w)
	}
}

func (g *GitHub) all(numbers []int) (found []*Issue) {
	for _, n := range numbers {
		found = append(found, g.find(n))
	}
	return found
}

// respondPage answers with a page of issues.
func (g *GitHub) respondPage(w http.ResponseWriter, r *http.Request, issues []*Issue) {
	out := []any{}
	for _, i := range page(r, issues) {
		out = append(out, shown(i))
	}
	respond(w, http.StatusOK, out)
}

// page returns the requested page of a list.
func page[T any](r *http.Request, all []T) []T {
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, n = max(size, 1), max(n, 1)
	return all[min((n-1)*size, len(all)):min(n*size, len(all))]
}

// shown returns an issue in the form of GitHub's API.
func shown(i *Issue) map[string]any {
	named := func(key string, names []string) []any {
		out := []any{}
		for _, n := range names {
			out = append(out, map[string]string{key: n})
		}
		return out
	}
	out := map[string]any{
		"number": i.Number, "title": i.Title, "body": i.Body, "state": "open",
		"html_url":  fmt.Sprintf("https://github.com/o/r/issues/%d", i.Number),
		"assignees": named("login", i.Assignees), "labels": named("name", i.Labels),
		"sub_issues_summary":         map[string]int{"total": len(i.Sub)},
		"issue_dependencies_summary": map[string]int{"blocked_by": len(i.BlockedBy)},
	}
	if i.Closed {
		out["state"] = "closed"
	}
	if i.Pull {
		out["pull_request"] = map[string]string{}
		out["html_url"] = fmt.Sprintf("https://github.com/o/r/pull/%d", i.Number)
	}
	return out
}

func respondNotFound(w http.ResponseWriter) {
	respond(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
