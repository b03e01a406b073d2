package mcpserver

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/core/loop"
	"github.com/pawl-dev/pawl/internal/failure"
	"github.com/pawl-dev/pawl/internal/record"
)

// askUser records a question. The answer comes with a later prompt.
func (s *Server) askUser(_ context.Context, in questionArgs) (string, error) {
	at, text, err := s.requireTurnAndText("question", in.Question, maxInputBytes)
	if err != nil {
		return "", err
	}
	q := loop.Question{Text: at.redacted(text), Proposed: at.redacted(in.Proposed)}
	for _, c := range in.Choices[:min(len(in.Choices), maxChoices)] {
		q.Choices = append(q.Choices, at.redacted(c))
	}
	return "Asked. Do what does not depend on it, then end your turn: the answer comes with your next prompt. Asking grants no permission.",
		at.post(record.Message{Kind: record.MessageQuestion, Question: &q})
}

const maxChoices = 8 // maximum answers that a question may suggest

// requestMerge records that the agent asks for a merge, which only the user can make.
func (s *Server) requestMerge(_ context.Context, in mergeArgs) (string, error) {
	at, summary, err := s.requireTurnAndText("summary", in.Summary, maxInputBytes)
	if err != nil {
		return "", err
	}
	return "Recorded: the user sees it in the loop's status and report. This is not a claim: use complete_task when the task is done.",
		at.post(record.Message{Kind: record.MessageMerge, Text: summary})
}

// requestTestChange records which tests the agent wants to change, and why.
func (s *Server) requestTestChange(_ context.Context, in testChangeArgs) (string, error) {
	at, why, err := s.requireTurnAndText("why", in.Why, maxInputBytes)
	if err != nil {
		return "", err
	}
	paths, err := at.paths(in.Files)
	if err != nil {
		return "", err
	}
	return "Asked for: " + strings.Join(paths, ", ") + ". Until it is approved, the original tests count, and changed tests keep the work from being verified. Continue with work that does not depend on it.",
		at.post(record.Message{Kind: record.MessageTests, Paths: paths, Text: why})
}

// paths returns files relative to the loop's root, with slashes.
func (at *boundLoop) paths(files []string) ([]string, error) {
	if len(files) == 0 || len(files) > maxFiles {
		return nil, failure.New(failure.Usage, "name the test files", "%d files are named, 1 to %d can be", len(files), maxFiles)
	}
	root := at.Spec.WorkTree(at.Loop.Loop)
	var paths []string
	for _, f := range files {
		f, err := checkText("a file's name", f, maxPathBytes)
		if err != nil {
			return nil, err
		}
		rel := filepath.FromSlash(f)
		if filepath.IsAbs(rel) {
			if rel, err = filepath.Rel(root, rel); err != nil {
				return nil, err
			}
		}
		if rel = filepath.Clean(rel); !filepath.IsLocal(rel) || rel == "." {
			return nil, failure.New(failure.Usage, "name files relative to "+root, "%s is not a file of the project", f)
		}
		if rel = filepath.ToSlash(rel); !slices.Contains(paths, rel) {
			paths = append(paths, rel)
		}
	}
	return paths, nil
}

// addLesson records a lesson for later attempts.
func (s *Server) addLesson(_ context.Context, in lessonArgs) (string, error) {
	at, text, err := s.requireTurnAndText("text", in.Text, maxLessonBytes)
	if err != nil {
		return "", err
	}
	return "Kept: later tries get this lesson.", at.post(record.Message{Kind: record.MessageLearn, Text: text})
}
