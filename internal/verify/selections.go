package verify

import (
	"path"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/work"
)

// selections are the files that each claim reads, in several trees.
type selections struct {
	isTest       func(file string) bool
	tests        *git.Selection
	mayHoldTests *git.Selection // tests, and sources that may contain tests
	documents    *git.Selection // without tests
	programs     *git.Selection // without tests
	sources      *git.Selection // source files and tests
	others       *git.Selection // neither tests nor documents
	python       *git.Selection

	submodules *git.Selection
}

func newSelections(isTest func(file string) bool) *selections {
	of := func(wanted func(file string) bool) *git.Selection {
		return git.NewSelection(func(file string, _ git.Entry) bool { return wanted(file) })
	}
	return &selections{
		isTest:       isTest,
		tests:        of(isTest),
		mayHoldTests: of(func(file string) bool { return path.Ext(file) == ".rs" || isTest(file) }),
		documents:    of(func(file string) bool { return isDocument(file) && !isTest(file) }),
		programs:     of(func(file string) bool { return sign.IsProgram(file) && !isTest(file) }),
		sources:      of(func(file string) bool { return work.IsSource(file) || isTest(file) }),
		others:       of(func(file string) bool { return !isDocument(file) && !isTest(file) }),
		python:       of(func(file string) bool { return path.Ext(file) == ".py" }),

		submodules: git.NewSelection(func(_ string, e git.Entry) bool { return e.IsSubmodule() }),
	}
}
