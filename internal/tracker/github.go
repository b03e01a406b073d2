package tracker

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// GitHub is the tracker of GitHub's issues. It uses the program gh and its login. An issue's id is
// its URL.
type GitHub struct {
	Dir string   // folder of the repository that is used if none is named
	Env []string // complete environment of gh

	login string // login of gh, "" if not known yet
}

// maxIssues limits the issues of a list, including those that it depends on.
const maxIssues = 200

// Handle answers a request.
func (g *GitHub) Handle(ctx context.Context, r Request) (Reply, error) {
	if r.Do == List {
		issues, err := g.list(ctx, r)
		return Reply{Issues: issues}, err
	}
	at, ok := issueAt(r.Issue)
	if !ok {
		return Reply{}, newError("", "%q is not an issue on GitHub", cleanLine(r.Issue))
	}
	switch r.Do {
	case Claim:
		return g.claim(ctx, at, r.Label)
	case Comment, Done, Blocked:
		if r.Text != "" {
			if err := g.comment(ctx, at, r); err != nil {
				return Reply{}, err
			}
		}
		if r.Release && r.Do != Comment {
			return Reply{}, g.release(ctx, at, r.Label)
		}
		return Reply{}, nil
	}
	return Reply{}, unknownVerb(r)
}

// issueLocation identifies an issue on GitHub.
type issueLocation struct {
	host, repo string // repo is OWNER/NAME
	number     int
}

func issueAt(address string) (issueLocation, bool) {
	m := issueURL.FindStringSubmatch(address)
	if m == nil {
		return issueLocation{}, false
	}
	n, err := strconv.Atoi(m[4])
	return issueLocation{host: m[1], repo: m[2] + "/" + m[3], number: n}, err == nil
}

// call returns a call about the issue. path is appended to the issue's path.
func (p issueLocation) call(method, path string, body any) call {
	return call{host: p.host, method: method, path: fmt.Sprintf("repos/%s/issues/%d%s", p.repo, p.number, path), body: body}
}

// ghIssue is an issue as GitHub's API returns it.
type ghIssue struct {
	Number    int                      `json:"number"`
	Title     string                   `json:"title"`
	Body      string                   `json:"body"`
	State     string                   `json:"state"`
	URL       string                   `json:"html_url"`
	Assignees []struct{ Login string } `json:"assignees"`
	Labels    []struct{ Name string }  `json:"labels"`
	Pull      *struct{}                `json:"pull_request"`
	Sub       *struct{ Total int }     `json:"sub_issues_summary"`
	Blocked   *struct {
		BlockedBy int `json:"blocked_by"`
	} `json:"issue_dependencies_summary"`
}

// isLabelled reports whether the issue has a label, in any case.
func (i ghIssue) isLabelled(label string) bool {
	return slices.ContainsFunc(i.Labels, func(b struct{ Name string }) bool { return strings.EqualFold(b.Name, label) })
}

func (i ghIssue) isAssignedTo(login string) bool {
	return slices.ContainsFunc(i.Assignees, func(a struct{ Login string }) bool { return a.Login == login })
}

// list returns the issues that a query selects, their open sub-issues, and the issues that block
// them.
func (g *GitHub) list(ctx context.Context, r Request) ([]Issue, error) {
	found, one, err := g.find(ctx, r.Query)
	if err != nil {
		return nil, err
	}
	l := lister{GitHub: g, label: r.Label, seen: map[string]bool{}}
	for _, i := range found {
		if i.Pull != nil {
			if one {
				return nil, newError("name an issue", "#%d is a pull request", i.Number)
			}
			continue
		}
		if err := l.add(ctx, i); err != nil {
			return nil, err
		}
	}
	return l.out, nil
}

// find returns the issues that a query selects: a URL, numbers, or filters.
func (g *GitHub) find(ctx context.Context, query string) (found []ghIssue, one bool, err error) {
	if at, ok := issueAt(query); ok {
		found = make([]ghIssue, 1)
		return found, true, g.api(ctx, at.call("GET", "", nil), &found[0])
	}
	const here = "repos/{owner}/{repo}/issues" // gh fills in the repository
	if numbers.MatchString(query) {
		for n := range strings.SplitSeq(query, ",") {
			var i ghIssue
			if err := g.api(ctx, call{method: "GET", path: here + "/" + strings.TrimPrefix(n, "#")}, &i); err != nil {
				return nil, true, err
			}
			found = append(found, i)
		}
		return found, true, nil
	}
	filter, err := filters(query)
	if err != nil {
		return nil, false, err
	}
	err = pages(ctx, g, call{method: "GET", path: here + "?" + filter}, func(page []ghIssue) bool {
		found = append(found, page...)
		return len(found) < maxIssues
	})
	return found[:min(len(found), maxIssues)], false, err
}

var numbers = regex.New(`^#?[0-9]{1,9}(,#?[0-9]{1,9})*$`)

// filters converts "label=ready,assignee=@me" to a query string. An issue must have all labels.
func filters(query string) (string, error) {
	const hint = "such as github:label=ready, github:12,13 or https://github.com/OWNER/REPO/issues/12"
	v := url.Values{"state": {"open"}, "sort": {"created"}, "direction": {"asc"}}
	var labels []string
	for part := range strings.SplitSeq(query, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok || value == "" {
			return "", newError(hint, "%q does not name issues of GitHub", cleanLine(query))
		}
		switch key {
		case "label":
			labels = append(labels, value)
		case "milestone", "assignee", "creator":
			v.Set(key, value)
		default:
			return "", newError(hint, "issues of GitHub are chosen by label, milestone, assignee or creator, not by %q", cleanLine(key))
		}
	}
	if len(labels) > 0 {
		v.Set("labels", strings.Join(labels, ","))
	}
	return v.Encode(), nil
}

// lister collects issues and what they depend on.
type lister struct {
	*GitHub
	label string
	seen  map[string]bool
	out   []Issue
}

// add adds an issue after its open sub-issues.
func (l *lister) add(ctx context.Context, i ghIssue) error {
	at, ok := issueAt(i.URL)
	if !ok {
		return fmt.Errorf("GitHub gives the issue %d no address", i.Number)
	}
	if l.seen[i.URL] {
		return nil
	}
	if l.seen[i.URL] = true; len(l.seen) > maxIssues {
		return newError("choose fewer", "these are more than %d issues", maxIssues)
	}
	out := Issue{ID: i.URL, Key: "#" + strconv.Itoa(i.Number), Title: i.Title, Body: i.Body, URL: i.URL, Closed: i.State != "open"}
	if !out.Closed {
		var err error
		if out.ClaimedBy, err = l.claimedBy(ctx, at, i); err != nil {
			return err
		}
		subs, err := l.related(ctx, at, "/sub_issues", i.Sub == nil || i.Sub.Total > 0)
		if err != nil {
			return err
		}
		for _, s := range subs {
			if err := l.add(ctx, s); err != nil {
				return err
			}
			out.DependsOn = append(out.DependsOn, s.URL)
		}
		before, err := l.related(ctx, at, "/dependencies/blocked_by", i.Blocked == nil || i.Blocked.BlockedBy > 0)
		if err != nil {
			return err
		}
		for _, b := range before {
			out.DependsOn = append(out.DependsOn, b.URL)
		}
	}
	l.out = append(l.out, out)
	return nil
}

// related returns the open issues that another issue depends on. It returns none if the server does
// not support dependencies.
func (l *lister) related(ctx context.Context, at issueLocation, path string, some bool) ([]ghIssue, error) {
	if !some {
		return nil, nil
	}
	var found []ghIssue
	err := pages(ctx, l.GitHub, at.call("GET", path, nil), func(page []ghIssue) bool {
		found = append(found, page...)
		return len(found) < maxIssues
	})
	if isStatus(err, 404, 410) {
		return nil, nil
	}
	return slices.DeleteFunc(found, func(i ghIssue) bool { return i.State != "open" }), err
}

// claimedBy returns who else works on an issue, or "".
func (l *lister) claimedBy(ctx context.Context, at issueLocation, i ghIssue) (string, error) {
	if l.label != "" {
		if i.isLabelled(l.label) {
			return "whoever set the label " + l.label, nil
		}
		return "", nil
	}
	if len(i.Assignees) == 0 {
		return "", nil
	}
	me, err := l.whoAmI(ctx, at.host)
	if err != nil || i.isAssignedTo(me) {
		return "", err
	}
	return i.Assignees[0].Login, nil
}

// whoAmI returns the login of gh.
func (g *GitHub) whoAmI(ctx context.Context, host string) (string, error) {
	if g.login != "" {
		return g.login, nil
	}
	var me struct{ Login string }
	err := g.api(ctx, call{host: host, method: "GET", path: "user"}, &me)
	g.login = me.Login
	return g.login, err
}

// claim sets the label, or assigns the issue to the login of gh.
func (g *GitHub) claim(ctx context.Context, at issueLocation, label string) (Reply, error) {
	var now ghIssue
	if err := g.api(ctx, at.call("GET", "", nil), &now); err != nil {
		return Reply{}, err
	}
	if now.State != "open" {
		return Reply{}, newError("reopen it, or name another", "issue #%d is closed", at.number)
	}
	if label != "" {
		if now.isLabelled(label) {
			return Reply{}, nil
		}
		return Reply{Changed: true}, g.api(ctx, at.call("POST", "/labels", map[string][]string{"labels": {label}}), nil)
	}
	me, err := g.whoAmI(ctx, at.host)
	if err != nil {
		return Reply{}, err
	}
	switch {
	case now.isAssignedTo(me):
		return Reply{}, nil
	case len(now.Assignees) > 0:
		return Reply{}, newError("name another", "issue #%d is assigned to %s", at.number, cleanLine(now.Assignees[0].Login))
	}
	if err := g.api(ctx, at.call("POST", "/assignees", map[string][]string{"assignees": {me}}), &now); err != nil {
		return Reply{}, err
	}
	if !now.isAssignedTo(me) { // GitHub ignores assignees without permission
		return Reply{}, newError("ask for write access, or claim by a label: [tracker] label in pawl.toml", "GitHub does not assign #%d to %s", at.number, cleanLine(me))
	}
	return Reply{Changed: true}, nil
}

// release removes a claim.
func (g *GitHub) release(ctx context.Context, at issueLocation, label string) error {
	if label != "" {
		err := g.api(ctx, at.call("DELETE", "/labels/"+url.PathEscape(label), nil), nil)
		if isStatus(err, 404) { // the label or assignee is gone
			return nil
		}
		return err
	}
	me, err := g.whoAmI(ctx, at.host)
	if err != nil {
		return err
	}
	return g.api(ctx, at.call("DELETE", "/assignees", map[string][]string{"assignees": {me}}), nil)
}

// comment adds a comment, unless there is one with the key of the request.
func (g *GitHub) comment(ctx context.Context, at issueLocation, r Request) error {
	mark := keyMark(r.Key)
	found := false
	err := pages(ctx, g, at.call("GET", "/comments", nil), func(page []struct{ Body string }) bool {
		found = found || slices.ContainsFunc(page, func(c struct{ Body string }) bool { return strings.Contains(c.Body, mark) })
		return !found
	})
	if err != nil || found && r.Key != "" {
		return err
	}
	return g.api(ctx, at.call("POST", "/comments", map[string]string{"body": r.Text + "\n\n" + mark}), nil)
}

// keyMark returns the text in a comment by which Pawl finds its comment again.
func keyMark(key string) string { return "<!-- pawl: " + cmp.Or(key, "-") + " -->" }
