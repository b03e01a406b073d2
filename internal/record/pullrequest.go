package record

// PullRequest is the result of a merge that the agent asked for, if the user lets Pawl
// open pull requests.
type PullRequest struct {
	URL     string `json:"url,omitempty"`     // of the pull request
	Problem string `json:"problem,omitempty"` // why it was not opened
}

// Text describes the result in one line, or returns "" if nothing was tried.
func (p PullRequest) Text() string {
	switch {
	case p.URL != "":
		return "opened: " + p.URL
	case p.Problem != "":
		return "no pull request was opened: " + p.Problem
	}
	return ""
}

// Remote is where a pull request may go, as it was when the loop began. A push elsewhere
// is refused.
type Remote struct {
	Name string `json:"name,omitempty"`
	Sum  string `json:"sum"` // checksum of its addresses, which may contain a password
	// Settings are the checksums of git's settings that decide where a push goes, by
	// their names.
	Settings map[string]string `json:"settings,omitempty"`
}
