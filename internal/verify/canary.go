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

// maxCanaries bounds the test files that get a canary, and maxSearched those that are
// searched for the tests that a claim is to be believed for.
const (
	maxCanaries = 3
	maxSearched = 60
	maxSecret   = 1 << 10 // bytes
)

// errNoCanary says that no test that must fail can be written beside these tests.
var errNoCanary = errors.New("there is no test file beside which a test that must fail can be laid")

// canaryRun is a run with tests that must fail.
type canaryRun struct {
	probe gate.Probe
	gates []gate.Gate
	ids   []string // tests that it is about, none for all
}

// canary runs gates on a tree in which tests that must fail stand beside those that the
// claim is to be believed for: the tree of now, or that of before, there without these.
func (v *Verifier) canary(ctx context.Context, r Request, o *gate.Observation, c canaryRun) (gate.Run, error) {
	tree := r.Tree
	if c.probe == gate.CanaryBefore {
		tree = r.Base
	}
	secret, err := v.canarySecret()
	if err != nil {
		return gate.Run{}, err
	}
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(v.unmarked(ctx, tree)))
	token := hex.EncodeToString(mac.Sum(nil)[:5])
	beside, err := v.besideProof(ctx, r, o, c.gates)
	if err != nil {
		return gate.Run{}, err
	}
	var run gate.Run
	laid := map[string][]byte{}
	for i, file := range beside {
		text, tests, err := v.layCanary(ctx, r, laying{file, fmt.Sprintf("%c%s", 'a'+i, token), c.probe})
		if err != nil {
			return gate.Run{}, err
		}
		maps.Copy(laid, text)
		run.CanaryTests = append(run.CanaryTests, tests...)
	}
	if len(run.CanaryTests) == 0 {
		return gate.Run{}, errNoCanary
	}
	if c.probe == gate.CanaryBefore {
		if tree, err = v.withoutUnbuilt(ctx, tree, laid, o.Baseline); err != nil {
			return gate.Run{}, err
		}
	}
	if tree, err = v.Repo.WithFiles(ctx, tree, laid); err != nil {
		return gate.Run{}, err
	}
	ids := c.ids
	for _, t := range run.CanaryTests {
		if len(ids) > 0 || c.probe == gate.CanaryBefore {
			ids = append(ids, t.Name)
		}
	}
	w := runTarget{root: v.Root, tree: tree, logDir: r.LogDir, probe: c.probe}
	run.Results, err = narrow(v.Root, c.gates, ids, func(gates []gate.Gate) ([]gate.Result, error) { return v.elsewhere(ctx, gates, w) })
	return run, err
}

// laying is one canary to be laid into a tree.
type laying struct {
	file, token string
	probe       gate.Probe
}

// layCanary gives the files of a canary and its tests, which are named as well where the
// tree of before has no place for it.
func (v *Verifier) layCanary(ctx context.Context, r Request, l laying) (map[string][]byte, []gate.CanaryTest, error) {
	content, err := v.Repo.Show(ctx, r.Tree, l.file)
	if err != nil {
		return nil, nil, err
	}
	c, ok := canary.For(l.file, content, l.token)
	if !ok {
		return nil, nil, nil
	}
	var tests []gate.CanaryTest
	for _, t := range c.Tests {
		tests = append(tests, gate.CanaryTest{Name: t.Name, Assertion: t.What, File: l.file})
	}
	text := c.Beside
	if l.probe == gate.CanaryBefore {
		text = c.Alone
	}
	if text == nil { // a program's source that holds tests
		was, err := v.Repo.Show(ctx, r.Base, l.file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, tests, nil
		}
		if err != nil {
			return nil, nil, err
		}
		then, ok := canary.For(l.file, was, l.token)
		if !ok {
			return nil, tests, nil
		}
		text = then.Beside
	}
	return map[string][]byte{c.Path: text}, tests, nil
}

// withoutUnbuilt leaves out of the tree of before the tests of Go packages that get a
// canary, where tests were seen not to build: they keep it from running.
func (v *Verifier) withoutUnbuilt(ctx context.Context, tree string, laid map[string][]byte, baseline []gate.Result) (string, error) {
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

// besideProof are test files that hold what a claim is to be believed for; where none is
// known to, the first that can have a canary: those of this task first.
func (v *Verifier) besideProof(ctx context.Context, r Request, o *gate.Observation, gates []gate.Gate) ([]string, error) {
	holding, err := v.Repo.Select(ctx, r.Tree, v.files.holding)
	if err != nil {
		return nil, err
	}
	verdict := gate.Decide(*o)
	names := leaves(verdict.Proofs(o.Baseline))
	var first, rest []string
	for _, g := range gates {
		for _, file := range testreport.TestFiles(g.ShellCommand(), filesOf(g, v.Root)) {
			first = append(first, path.Join(g.Dir, file))
		}
	}
	for file, e := range holding {
		if isFile(e) {
			rest = append(rest, file)
		}
	}
	slices.Sort(rest)
	named, err := v.Repo.EntriesAt(ctx, r.Tree, slices.Concat(o.NewTests, first))
	if err != nil {
		return nil, err
	}
	var matching, other []string
	searched := map[string]bool{}
	for _, file := range slices.Concat(o.NewTests, first, rest) {
		if e := cmp.Or(holding[file], named[file]); !isFile(e) || searched[file] || len(searched) >= maxSearched || len(matching) >= maxCanaries {
			continue
		}
		searched[file] = true
		content, err := v.Repo.Show(ctx, r.Tree, file)
		if err != nil {
			return nil, err
		}
		c, ok := canary.For(file, content, "a0")
		if !ok || slices.ContainsFunc(matching, func(m string) bool { return c.Path != file && path.Dir(m) == path.Dir(file) }) {
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

// leaves are what tests of these ids may be called in the file that holds them: what stands
// last, as "test_adds" of "tests/test_sum.py::TestSum::test_adds[1-2]" and "TestAdds" of
// "example.com/sum.TestAdds/one"; of no id its folder, which many files name.
func leaves(ids []string) []string {
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
			put(id[strings.LastIndexByte(id[:i], '.')+1 : i])
		}
	}
	return names
}

// canarySecret is what the names of canaries are made of: the agent does not know it,
// and it is the same for all claims of one Dir, so that what is kept is found.
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
