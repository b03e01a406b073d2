package arch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// links lists what a command's program consists of, by the policy's names: the
// folders of this module that it imports, directly or not, on any system, and the
// packages of other modules that these import; sorted. Faults are imports of
// standard packages that are not to be linked.
func links(files []source, command string, not []string) (packages, faults []string) {
	seen := map[string]bool{}
	for open := []string{command}; len(open) > 0; {
		folder := open[0]
		open = open[1:]
		for _, s := range files {
			if s.test || s.folder != folder {
				continue
			}
			for _, spec := range s.ast.Imports {
				p, _ := strconv.Unquote(spec.Path.Value)
				name, ours := strings.CutPrefix(p, module+"/")
				name = strings.TrimPrefix(name, "internal/")
				switch {
				case standard(p):
					if covers(not, p) {
						faults = append(faults, fmt.Sprintf("%s: %s is linked into %s and may not import %q", s.at(spec.Pos()), folder, command, p))
					}
				case !seen[name]:
					seen[name] = true
					if ours {
						open = append(open, name)
					}
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen)), faults
}

func TestHookLinksFewPackages(t *testing.T) {
	t.Parallel()
	got, faults := links(sources(t), "cmd/pawl-hook", strings.Fields(unlinked))
	report(t, faults)
	if diff := cmp.Diff(slices.Sorted(slices.Values(strings.Fields(linked))), got); diff != "" {
		t.Errorf("what cmd/pawl-hook links (-policy +is):\n%s", diff)
	}
}

func TestLinksAreFollowed(t *testing.T) {
	t.Parallel()
	files := []source{
		parse(t, "cmd/x/main.go", []byte(`package main; import ("os"; "github.com/pawl-dev/pawl/internal/a")`)),
		parse(t, "internal/a/a.go", []byte(`package a; import ("github.com/pawl-dev/pawl/internal/b"; "golang.org/x/term")`)),
		parse(t, "internal/b/b_windows.go", []byte(`package b; import ("net/http"; "github.com/pawl-dev/pawl/internal/a")`)),
		parse(t, "internal/b/b_test.go", []byte(`package b; import "github.com/pawl-dev/pawl/internal/c"`)),
		parse(t, "internal/d/d.go", []byte(`package d; import "net"`)),
	}
	got, faults := links(files, "cmd/x", []string{"net", "net/*"})
	if diff := cmp.Diff([]string{"a", "b", "golang.org/x/term"}, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	want := []string{`internal/b/b_windows.go:1: b is linked into cmd/x and may not import "net/http"`}
	if diff := cmp.Diff(want, faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestHookStartsQuickly builds the hook as it is shipped. (Every source file is read, so that
// the result is not cached when one of them changes.)
func TestHookStartsQuickly(t *testing.T) {
	t.Parallel()
	sources(t)
	hook := build(t, "pawl-hook", "-ldflags", "-s -w")
	testStart(t, hookBudget, hook, "claude")
}
