package tracker

import (
	"strings"

	"github.com/pawl-dev/pawl/internal/regex"
)

// The names of trackers in the addresses of issues.
const (
	GitHubName = "github"
	BeadsName  = "beads"
	// CommandName means the program in [tracker] of pawl.toml.
	CommandName = "tracker"
)

// Address selects issues of a tracker.
type Address struct {
	Tracker string // GitHubName, BeadsName or CommandName
	Query   string // selects issues, in the syntax of the tracker
}

// String returns the address as a user types it.
func (a Address) String() string {
	if issueURL.MatchString(a.Query) {
		return a.Query
	}
	return a.Tracker + ":" + a.Query
}

// issueURL matches the address of an issue in a browser.
var issueURL = regex.New(`^https://([A-Za-z0-9.-]+)/([A-Za-z0-9_.-]+)/([A-Za-z0-9_.-]+)/issues/([0-9]{1,9})/?(?:[?#].*)?$`)

// otherURL matches the URL of a change, or of an issue that is not on GitHub.
var otherURL = regex.New(`^https?://[^\s/]+/\S*(?:/pull/|/pulls/|/merge_requests/|/-/issues/|/issues/|/browse/|/issue/)\S*$`)

// IsUnsupportedURL reports whether a word that Parse rejects is the URL of a change, or of an issue that is
// not on GitHub.
func IsUnsupportedURL(word string) bool { return otherURL.MatchString(word) }

// Parse reads an address of issues: the URL of one on GitHub, "github:label=ready",
// "beads:", "tracker:QUERY". It returns false for any other word.
func Parse(word string) (Address, bool) {
	if issueURL.MatchString(word) {
		return Address{GitHubName, word}, true
	}
	name, query, ok := strings.Cut(word, ":")
	if !ok || strings.ContainsAny(query, "\n\r\x00") || strings.HasPrefix(query, "//") {
		return Address{}, false
	}
	switch name {
	case GitHubName, BeadsName, CommandName:
		return Address{name, query}, true
	}
	return Address{}, false
}
