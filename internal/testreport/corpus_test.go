package testreport_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/testreport"
)

// sample is one run of a corpus: its command, exit code, output, and the result that a human reader
// assigned to it.
type sample struct {
	Framework string            `json:"framework"`
	File      string            `json:"file"`
	Command   string            `json:"command"`
	ExitCode  int               `json:"exit_code"`
	Expect    string            `json:"expect"`
	Kind      string            `json:"kind"`
	Files     map[string]string `json:"files"`
	Failing   []string          `json:"failing"`
	output    []byte
}

// want returns the result that a human reader assigned. Runs other than test runs never count as
// failed tests, whatever their exit code.
func (s sample) want() testreport.Result {
	if s.Kind == "test" || s.Kind == "report" {
		return testreport.Result(s.Expect)
	}
	return testreport.Result(s.Kind)
}

func (s sample) read() testreport.Verdict {
	return testreport.Read(testreport.Run{Command: s.Command, ExitCode: s.ExitCode, Output: s.output, Files: func(path string) ([]byte, error) {
		if text, ok := s.Files[path]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}})
}

func corpus(t *testing.T, name string) []sample {
	t.Helper()
	dir := filepath.Join("testdata", name)
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	lines := bufio.NewScanner(bytes.NewReader(manifest))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		if s.output, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(s.File))); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// confusion counts, for each expected result, which results Read returned.
type confusion map[testreport.Result]map[testreport.Result]int

func (c confusion) add(want, got testreport.Result) {
	if c[want] == nil {
		c[want] = map[testreport.Result]int{}
	}
	c[want][got]++
}

// recall and precision are those of Fail, the only result that Pawl acts on.
func (c confusion) recall() float64 {
	all := 0
	for _, n := range c[testreport.Fail] {
		all += n
	}
	return float64(c[testreport.Fail][testreport.Fail]) / float64(all)
}

func (c confusion) precision() float64 {
	said := 0
	for _, row := range c {
		said += row[testreport.Fail]
	}
	return float64(c[testreport.Fail][testreport.Fail]) / float64(said)
}

func (c confusion) String() string {
	cols := map[testreport.Result]bool{}
	for _, row := range c {
		for got := range row {
			cols[got] = true
		}
	}
	names := slices.Sorted(maps.Keys(cols))
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s", "wanted\\read")
	for _, got := range names {
		fmt.Fprintf(&b, "%14s", got)
	}
	for _, want := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(&b, "\n%-14s", want)
		for _, got := range names {
			fmt.Fprintf(&b, "%14d", c[want][got])
		}
	}
	return b.String()
}

// TestCorpusVerdicts reads the output of real runners. Read must find at least 98 % of the failed runs, and
// at most 1 % of the runs that it calls failed may be something else.
func TestCorpusVerdicts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"output", "heldout", "blind"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := confusion{}
			for _, s := range corpus(t, name) {
				v := s.read()
				c.add(s.want(), v.Result)
				if v.Result != s.want() {
					t.Logf("%s: `%s` (exit %d) was read as %s, want %s", s.File, s.Command, s.ExitCode, v.Result, s.want())
				}
				for _, failing := range s.Failing {
					if !slices.Contains(v.Failing, failing) {
						t.Errorf("%s: failing %q, want %q among them", s.File, v.Failing, failing)
					}
				}
			}
			t.Logf("recall %.3f, precision %.3f\n%s", c.recall(), c.precision(), c)
			if c.recall() < 0.98 || c.precision() < 0.99 {
				t.Errorf("recall %.3f (want ≥ 0.98), precision %.3f (want ≥ 0.99)", c.recall(), c.precision())
			}
		})
	}
}

// TestCorpusEndingWithZero reads the failed runs of the corpora as if a plugin had changed their
// exit code to 0. Most runners print a summary that shows the failure.
func TestCorpusEndingWithZero(t *testing.T) {
	t.Parallel()
	all, found := 0, 0
	for _, name := range []string{"output", "heldout", "blind"} {
		for _, s := range corpus(t, name) {
			if s.want() != testreport.Fail || s.ExitCode == 0 {
				continue
			}
			all++
			if s.ExitCode = 0; s.read().Result == testreport.Fail {
				found++
			}
		}
	}
	if share := float64(found) / float64(all); share < 0.85 {
		t.Errorf("%d of %d failed runs were found, want ≥ 85 %%", found, all)
	}
}
