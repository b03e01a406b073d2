package verify

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/atomicfile"
	"github.com/pawl-dev/pawl/internal/canary"
	"github.com/pawl-dev/pawl/internal/core/gate"
	"github.com/pawl-dev/pawl/internal/testreport"
)

const (
	// maxCanaries bounds the test files that get a canary, maxSearched those searched for proving
	// tests.
	maxCanaries = 3
	maxSearched = 60
	maxSecret   = 1 << 10 // bytes
)

// errNoCanary means that no test file can have a canary.
var errNoCanary = errors.New("there is no test file next to which Pawl can put a failing test")

// runCanary runs gates with canary tests beside the proving tests: on the current tree, or on the
// baseline tree without the proving tests.
func (c *claim) runCanary(ctx context.Context, w runTarget, gates []gate.Gate) (run gate.Run, err error) {
	before := w.probe == gate.CanaryBefore
	if w.tree = c.Tree; before {
		w.tree = c.Base
	}
	secret, err := c.canarySecret()
	if err != nil {
		return run, err
	}
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(c.withoutMarks(ctx, w.tree)))
	token := hex.EncodeToString(mac.Sum(nil)[:5])
	beside, err := c.filesForCanary(ctx, gates)
	if err != nil {
		return run, err
	}
	laid := map[string][]byte{}
	for i, file := range beside {
		text, tests, err := c.canaryFiles(ctx, file, fmt.Sprintf("%c%s", 'a'+i, token), before)
		if err != nil {
			return gate.Run{}, err
		}
		maps.Copy(laid, text)
		run.CanaryTests = append(run.CanaryTests, tests...)
	}
	if len(run.CanaryTests) == 0 {
		return gate.Run{}, errNoCanary
	}
	if before {
		if w.tree, err = c.withoutUnbuildableTests(ctx, w.tree, laid, c.seen.Baseline); err != nil {
			return gate.Run{}, err
		}
	}
	if w.tree, err = c.Repo.WithFiles(ctx, w.tree, laid); err != nil {
		return gate.Run{}, err
	}
	ids := c.seen.ProbeTests(w.probe)
	if len(ids) > 0 || before {
		for _, t := range run.CanaryTests {
			ids = append(ids, t.Name)
		}
	}
	run.Results, err = narrow(c.Root, gates, ids, func(gates []gate.Gate) ([]gate.Result, error) { return c.runInCheckout(ctx, gates, w) })
	return run, err
}

// canaryFiles returns the files and tests of a canary for a test file. It returns the tests also if the
// baseline tree has no place for them.
func (c *claim) canaryFiles(ctx context.Context, file, token string, before bool) (map[string][]byte, []gate.CanaryTest, error) {
	content, err := c.Repo.Show(ctx, c.Tree, file)
	if err != nil {
		return nil, nil, err
	}
	laid, ok := canary.New(file, content, token)
	if !ok {
		return nil, nil, nil
	}
	var tests []gate.CanaryTest
	for _, t := range laid.Tests {
		tests = append(tests, gate.CanaryTest{Name: t.Name, Assertion: t.Assertion, File: file})
	}
	text := laid.WithTests
	if before {
		text = laid.Standalone
	}
	if text == nil { // a program's source that holds tests
		was, err := c.Repo.Show(ctx, c.Base, file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, tests, nil
		}
		if err != nil {
			return nil, nil, err
		}
		then, ok := canary.New(file, was, token)
		if !ok {
			return nil, tests, nil
		}
		text = then.WithTests
	}
	return map[string][]byte{laid.Path: text}, tests, nil
}

// withoutUnbuildableTests removes the tests of Go packages with a canary if baseline tests did not
// build: the canary could not run.
func (v *Verifier) withoutUnbuildableTests(ctx context.Context, tree string, laid map[string][]byte, baseline []gate.Result) (string, error) {
	if !slices.ContainsFunc(baseline, func(r gate.Result) bool { return r.BuildFailed }) {
		return tree, nil
	}
	entries, err := v.Repo.Entries(ctx, tree)
	if err != nil {
		return "", err
	}
	var out []string
	for name := range laid {
		for file := range entries {
			if strings.HasSuffix(name, "_test.go") && strings.HasSuffix(file, "_test.go") && path.Dir(name) == path.Dir(file) {
				out = append(out, file)
			}
		}
	}
	return v.Repo.Overlay(ctx, tree, emptyTree(tree), out)
}

// filesForCanary returns test files that contain proving tests, or else the first that can have a
// canary, new tests first.
func (c *claim) filesForCanary(ctx context.Context, gates []gate.Gate) ([]string, error) {
	holding, err := c.Repo.Select(ctx, c.Tree, c.files.mayHoldTests)
	if err != nil {
		return nil, err
	}
	verdict := gate.Decide(c.seen)
	names := namesInFile(verdict.Proofs(c.seen.Baseline))
	var first, rest []string
	for _, g := range gates {
		for _, file := range testreport.TestFiles(g.ShellCommand(), filesOf(g, c.Root)) {
			first = append(first, path.Join(g.Dir, file))
		}
	}
	for file, e := range holding {
		if isFile(e) {
			rest = append(rest, file)
		}
	}
	slices.Sort(rest)
	named, err := c.Repo.EntriesAt(ctx, c.Tree, slices.Concat(c.seen.Tests.New, first))
	if err != nil {
		return nil, err
	}
	var matching, other []string
	searched := map[string]bool{}
	for _, file := range slices.Concat(c.seen.Tests.New, first, rest) {
		if e := cmp.Or(holding[file], named[file]); !isFile(e) || searched[file] || len(searched) >= maxSearched || len(matching) >= maxCanaries {
			continue
		}
		searched[file] = true
		content, err := c.Repo.Show(ctx, c.Tree, file)
		if err != nil {
			return nil, err
		}
		laid, ok := canary.New(file, content, "a0")
		if !ok || slices.ContainsFunc(matching, func(m string) bool { return laid.Path != file && path.Dir(m) == path.Dir(file) }) {
			continue // unknown, or in the package of another
		}
		if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(string(content), name) }) {
			matching = append(matching, file)
		} else {
			other = append(other, file)
		}
	}
	if len(matching) == 0 {
		return other[:min(len(other), 1)], nil
	}
	return matching, nil
}

// namesInFile returns the names that test IDs may have in their file. Example:
// "tests/test_sum.py::TestSum::test_adds[1-2]" gives test_adds, "example.com/sum.TestAdds/one"
// gives TestAdds. Folders are omitted: many files mention them.
func namesInFile(ids []string) []string {
	var names []string
	put := func(name string) {
		if name, _, _ = strings.Cut(strings.Trim(name, "() "), " ("); len(name) > 2 {
			names = append(names, name)
		}
	}
	for _, id := range ids {
		if i := strings.LastIndex(id, " > "); i >= 0 {
			put(id[i+len(" > "):])
			continue
		}
		if i := strings.LastIndex(id, "::"); i >= 0 {
			name, _, _ := strings.Cut(id[i+len("::"):], "[") // the values of a parametrized test
			put(name)
			continue
		}
		put(id)
		put(id[strings.LastIndexByte(id, '.')+1:])
		if i := strings.LastIndexByte(id, '/'); i >= 0 {
			name, _, _ := strings.Cut(id[strings.LastIndexByte(id[:i], '.')+1:i], "/")
			if strings.HasPrefix(name, "Test") || !strings.Contains(id[i:], ".") { // else it is of a package's path
				put(name)
			}
		}
	}
	return names
}

// canarySecret returns the secret from which canary names are made. The agent does not know it. It
// stays the same for one Dir, so that cached results are found.
func (v *Verifier) canarySecret() ([]byte, error) {
	file := filepath.Join(v.Dir, "canary")
	if b, err := atomicfile.Read(file, maxSecret); err == nil && len(b) >= 32 {
		return b, nil
	}
	secret := []byte(rand.Text() + rand.Text())
	if err := os.MkdirAll(v.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep the canary's secret: %w", err)
	}
	if err := atomicfile.Write(file, secret, 0o600); err != nil {
		return nil, fmt.Errorf("keep the canary's secret: %w", err)
	}
	return secret, nil
}
