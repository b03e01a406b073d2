package verify

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mutant"
	"github.com/pawl-dev/pawl/internal/sign"
	"github.com/pawl-dev/pawl/internal/testdiff"
	"github.com/pawl-dev/pawl/internal/work"
)

// SignRequest asks for the signs in the difference between two trees.
type SignRequest struct {
	Tests         []string // globs of tests, nil = DefaultTests
	Before, After string   // trees
	Asked         string   // the text of the task

	files *selections // by Tests; nil = derived from them
}

// selections returns the request's selections, derived if nil.
func (r SignRequest) selections() *selections {
	switch {
	case r.files != nil:
		return r.files
	case r.Tests == nil:
		return newSelections(defaultTests().Match)
	}
	return newSelections(work.CompileGlobs(r.Tests).Match)
}

// signRequest returns a request with the Verifier's own tests.
func (v *Verifier) signRequest(before, after, asked string) SignRequest {
	return SignRequest{Tests: v.Tests, Before: before, After: after, Asked: asked, files: v.files}
}

// Signs returns what a reviewer should see in the difference between two trees, see package sign.
func Signs(ctx context.Context, repo *git.Repo, r SignRequest) (found []sign.Sign, err error) {
	var in *inspection
	changes, err := repo.Diff(ctx, r.Before, r.After)
	if err == nil {
		in, err = newInspection(ctx, repo, r, changes)
	}
	if err == nil {
		found, err = in.all(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("look for signs: %w", err)
	}
	return found, nil
}

// inspection looks for signs in one change.
type inspection struct {
	repo    *git.Repo
	r       SignRequest
	changes []git.Change
	changed []changedFile // programs and tests, at most maxChangedPrograms
	tooMany bool          // there are more
	tests   *sign.Tests   // after the change

	programs string // code of the changed programs

	functions []string // names of the added or changed functions
	fakeable  []string // methods of the interfaces in changed files: a fake has them too
}

// newInspection reads what signs depend on, in the changes of a request.
func newInspection(ctx context.Context, repo *git.Repo, r SignRequest, changes []git.Change) (*inspection, error) {
	r.files = r.selections()
	tests, err := testsIn(ctx, repo, r, git.Paths(changes))
	if err != nil {
		return nil, err
	}
	in := &inspection{repo: repo, r: r, changes: changes, tests: tests}
	programs := slices.DeleteFunc(slices.Clone(changes), func(c git.Change) bool { return !mayBeProgram(c) })
	if in.tooMany = len(programs) > maxChangedPrograms; in.tooMany {
		programs = programs[:maxChangedPrograms]
	}
	if in.changed, err = readChanged(ctx, repo, programs); err != nil {
		return nil, err
	}
	in.changed = slices.DeleteFunc(in.changed, func(f changedFile) bool {
		return !mutant.Knows(f.Path) && !sign.IsProgramText(f.Path, f.after) && !sign.IsProgram(f.Path)
	})
	in.readPrograms()
	return in, nil
}

// maxChangedPrograms bounds the changed programs and tests of a claim that are read, and maxCompared the
// changes that are compared with each other. A claim with more programs is not proven: nobody
// could tell which of them its tests check.
const (
	maxChangedPrograms = 2000
	maxCompared        = 200
)

// mayBeProgram reports whether a change is of a program by its name, or of a file that may be a script.
func mayBeProgram(c git.Change) bool {
	return sign.IsProgram(c.Path) || mutant.Knows(c.Path) || path.Ext(c.Path) == ""
}

// first returns the changes that are compared with each other, programs first: else many other files could hide them.
func (in *inspection) first() []git.Change {
	sorted := slices.Clone(in.changes)
	rank := func(c git.Change) int {
		if mayBeProgram(c) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sorted, func(a, b git.Change) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted[:min(len(sorted), maxCompared)]
}

// work returns the changed programs that are no tests.
func (in *inspection) work() []changedFile {
	return slices.DeleteFunc(slices.Clone(in.changed), func(f changedFile) bool { return in.r.files.isTest(f.Path) })
}

// all returns all signs of the change.
func (in *inspection) all(ctx context.Context) ([]sign.Sign, error) {
	var found []sign.Sign
	moved, err := movedTexts(ctx, in.repo, in.changes)
	if err != nil {
		return nil, err
	}
	err = eachText(ctx, in.repo, in.changes, func(f changedFile) error {
		if text, ok := moved[f.Path]; ok {
			f.before = text
		}
		of, err := in.file(ctx, f)
		in.nameFunctions(f, of)
		found = append(found, of...)
		return err
	})
	if err != nil {
		return nil, err
	}
	found = append(found, in.generatedFiles(ctx)...)
	for _, find := range []func(context.Context) ([]sign.Sign, error){in.unusedFiles, in.missingMeans} {
		more, err := find(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return sign.RareFirst(append(found, in.droppedNames()...)), nil
}

// readPrograms derives what signs depend on from the changed programs, without tests.
func (in *inspection) readPrograms() {
	var all strings.Builder
	for _, f := range in.work() {
		if !f.hasFunctions() {
			continue
		}
		all.WriteString(mutant.Code(f.Path, f.after))
		in.fakeable = append(in.fakeable, testdiff.InterfaceMethods(f.Path, f.after)...)
		for _, made := range mutant.Changed(f.Path, f.before, f.after) {
			in.functions = append(in.functions, made.Name)
		}
	}
	in.programs = all.String()
}

// unaskedData reports whether a change is of old data that the task does not mention: a gate may
// read it.
func unaskedData(asked string, c git.Change) bool {
	return c.Status == 'M' && work.IsData(c.Path) && !strings.Contains(asked, path.Base(c.Path))
}

// file returns the signs of one changed file.
func (in *inspection) file(ctx context.Context, f changedFile) (found []sign.Sign, err error) {
	test := in.r.files.isTest(f.Path)
	if s, ok := sign.ShadowSign(f.Path); ok && f.Status == 'A' && !test {
		found = append(found, s)
	}
	if !test && unaskedData(in.r.Asked, f.Change) {
		found = append(found, sign.Sign{Path: f.Path, Kind: sign.Data, Does: "is data that was there: a gate may read it"})
	}
	if f.Status == 'D' {
		return found, nil
	}
	if found = append(found, sign.Unreadable(f.Path, f.before, f.after)...); !sign.IsProgramText(f.Path, f.after) {
		return found, nil
	}
	change := f.sides()
	if test || path.Ext(f.Path) == ".rs" { // it may hold tests
		found = append(append(found, change.TestSigns()...), change.WeakTestSigns(in.functions)...)
	}
	if test {
		return append(found, in.testDoubles(f.Path, f.before, f.after)...), nil
	}
	found = append(found, slices.DeleteFunc(change.Signs(), in.tests.IsRequested)...)
	found = append(found, in.answers(change)...)
	for _, made := range mutant.EqualityFunctions(f.Path, f.before, f.after) {
		if s := equalitySign(made); !slices.ContainsFunc(found, s.Within(made.Lines)) {
			found = append(found, s)
		}
	}
	for _, made := range mutant.Stubs(f.Path, f.before, f.after) {
		found = append(found, sign.Sign{Path: f.Path, Line: made.Line, Kind: sign.Stub, Does: "ignores its input", Text: made.Head})
	}
	for _, made := range mutant.UncalledFunctions(f.Path, f.before, f.after, in.programs) {
		found = append(found, sign.Sign{Path: f.Path, Line: made.Line, Kind: sign.Unused, Does: "is called by tests alone", Text: made.Head})
	}
	unread, err := in.unread(ctx, change)
	if err != nil {
		return nil, err
	}
	for _, s := range unread {
		if !slices.ContainsFunc(found, func(o sign.Sign) bool { return o.Path == s.Path && o.Line == s.Line }) {
			found = append(found, s.Sign)
		}
	}
	return found, nil
}

// answers returns the signs that a program holds the answers to its tests: by its inputs, else by what
// it gives.
func (in *inspection) answers(c *sign.Change) (found []sign.Sign) {
	for _, a := range in.tests.AnswerTables(c) {
		found = append(found, a.Sign)
	}
	if len(found) == 0 {
		return in.tests.HardcodedAnswers(c)
	}
	return found
}

// testDoubles returns new functions in a test file with the name of a changed function: the tests
// may call these instead.
func (in *inspection) testDoubles(file string, was, is []byte) (found []sign.Sign) {
	for _, f := range mutant.Changed(file, was, is) {
		bare := mutant.BareName(f.Name)
		same := func(name string) bool { return mutant.BareName(name) == bare && len(bare) > 2 }
		if bare != f.Name && (slices.Contains(in.fakeable, bare) || strings.HasPrefix(bare, "__") || bare == "constructor") {
			continue
		}
		if f.New && !isEntryPoint(f) && slices.ContainsFunc(in.functions, same) {
			found = append(found, sign.Sign{Path: file, Line: f.Line, Kind: sign.TestDouble, Does: "has a function of its own with a name that the work changed", Text: f.Name})
		}
	}
	return found
}

// unreadNames is what a change added to a file and nothing reads.
type unreadNames struct {
	sign.Sign

	parameters string // of a function, "a, b"; "" = a field or variable
}

// unread returns what neither the file itself nor any other file reads.
func (in *inspection) unread(ctx context.Context, c *sign.Change) ([]unreadNames, error) {
	look := func(all string) (found []unreadNames) {
		for _, s := range c.UnreadValues(all) {
			found = append(found, unreadNames{Sign: s})
		}
		for _, f := range mutant.UnreadParameters(c.File, c.Before, c.After, all) {
			s := sign.Sign{Path: c.File, Line: f.Line, Kind: sign.Unread, Does: "takes " + f.Name + " and does nothing with it", Text: f.Head}
			found = append(found, unreadNames{s, f.Name})
		}
		return found
	}
	own := sign.WithoutComments(c.File, c.After)
	found := look(own)
	if len(found) == 0 {
		return nil, nil
	}
	programs, err := in.repo.Select(ctx, in.r.After, git.NewSelection(func(other string, _ git.Entry) bool { return other != c.File && sign.IsProgram(other) }))
	if err != nil {
		return nil, err
	}
	others, err := in.repo.Contents(ctx, programs, maxProgramsRead, maxTextRead)
	if err != nil || len(others) == maxProgramsRead {
		return nil, err
	}
	var words []string
	for _, s := range found {
		words = append(words, strings.FieldsFunc(s.Text, isNotNameRune)...)
	}
	var all strings.Builder
	all.WriteString(own)
	for other, content := range others {
		for line := range strings.Lines(sign.WithoutComments(other, content)) {
			if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
				all.WriteString(line)
			}
		}
	}
	still := look(all.String())
	return slices.DeleteFunc(found, func(s unreadNames) bool { return !slices.Contains(still, s) }), nil
}

// Bounds of what is read of tests and documents for signs.
const (
	maxTestsRead     = 120
	maxProgramsRead  = 2000
	maxDocumentsRead = 40
	maxTextRead      = 256 << 10
)

// testsIn reads tests of the tree after a change: all that changed, and some of the others. Values in
// the task or in old documents are known without them.
func testsIn(ctx context.Context, repo *git.Repo, r SignRequest, changed []string) (*sign.Tests, error) {
	files := r.selections()
	entries, err := repo.Select(ctx, r.After, files.tests)
	if err != nil {
		return nil, err
	}
	first, others := map[string]git.Entry{}, maps.Clone(entries)
	for _, file := range changed {
		if e, ok := entries[file]; ok {
			first[file] = e
			delete(others, file)
		}
	}
	tests, err := repo.Contents(ctx, first, maxChangedPrograms, maxTextRead)
	if err != nil {
		return nil, err
	}
	more, err := repo.Contents(ctx, others, max(0, maxTestsRead-len(tests)), maxTextRead)
	if err != nil {
		return nil, err
	}
	maps.Copy(tests, more)
	said, err := contentsOf(ctx, repo, r.Before, files.documents, maxDocumentsRead)
	known := []string{r.Asked}
	for _, text := range said {
		known = append(known, string(text))
	}
	t := sign.NewTests(tests, strings.Join(known, "\n"))
	for file, content := range tests {
		values := mutant.Values(file, content, nil, nil)
		t.AddExpected(values.Distinctive, values.Rows)
	}
	return t, err
}

// contentsOf reads the first files of a selection.
func contentsOf(ctx context.Context, repo *git.Repo, tree string, s *git.Selection, most int) (map[string][]byte, error) {
	entries, err := repo.Select(ctx, tree, s)
	if err != nil {
		return nil, err
	}
	return repo.Contents(ctx, entries, most, maxTextRead)
}

func isDocument(file string) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".md", ".markdown", ".rst", ".adoc", ".txt":
		return true
	case "":
		base := path.Base(file)
		return strings.EqualFold(base, "README") || strings.EqualFold(base, "TODO")
	}
	return false
}

// droppedNames returns signs for exported names that no changed file exports now.
func (in *inspection) droppedNames() []sign.Sign {
	var was []sign.Sign
	now := map[string]bool{}
	for _, f := range in.work() {
		for _, name := range sign.Exported(f.Path, f.before) {
			was = append(was, sign.RemovedExportSign(f.Path, name))
		}
		for _, name := range sign.Exported(f.Path, f.after) {
			now[sign.RemovedExportSign("", name).Does] = true
		}
	}
	return slices.DeleteFunc(was, func(s sign.Sign) bool { return now[s.Does] })
}
