package memory

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
