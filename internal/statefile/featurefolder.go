package statefile

import (
	"path/filepath"
	"time"

	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/foreign/featureloop"
)

// FeatureFolder is a folder of the feature-list controller that a user named.
type FeatureFolder struct {
	Proposal
	File string // its progress.txt, absolute
	New  bool   // there is no such file yet
}

// NamedFeatureFolder returns the folder that a path names, its own or that of a file in
// it; nil if it names none. One that asks for no loop is an error.
func NamedFeatureFolder(path string, p Place, tracked func(path string) (bool, error)) (*FeatureFolder, error) {
	f, file, p := FormatOfPath(filepath.Clean(path), p)
	if f == nil || f.Name() != FeatureListName {
		return nil, nil //nolint:nilnil // it names none
	}
	p.RalphLoopDir = filepath.Dir(file) // the user's own word
	asks, err := f.Propose(file, p, SessionInfo{SessionStarted: time.Unix(0, 0), Now: time.Now(), Unattended: true, Tracked: tracked})
	if err != nil {
		return nil, err
	}
	if asks.Refused != "" {
		return nil, failure.New(failure.Usage, "", "%s", asks.Refused)
	}
	if asks.Skip {
		return nil, failure.New(failure.Usage,
			"in "+DisplayPath(p.Root, file)+", set Status to "+featureloop.InProgress+", and in the list \"passes\" of what is to be done to false",
			"%s asks for no loop: all its features pass, or its status is one of an end", DisplayPath(p.Root, filepath.Dir(file)))
	}
	return &FeatureFolder{Proposal: asks, File: file, New: existingPath(file) == ""}, nil
}

// HasPrompt reports whether a list of features is one of the controller's: its prompt
// lies beside it.
func HasPrompt(list string) bool {
	return filepath.Base(list) == featureloop.ListName && existingPath(filepath.Join(filepath.Dir(list), featureloop.PromptName)) != ""
}
