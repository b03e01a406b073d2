package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Reading a repository runs no program that its configuration names.
func TestInertRunsNoFilter(t *testing.T) {
	t.Parallel()
	if onWindows {
		t.Skip("the filters are run by sh")
	}
	for name, setting := range map[string]string{"clean": "clean", "process": "process"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t, "a", "one", ".gitattributes", "a filter=its.own\n")
			hit := filepath.Join(t.TempDir(), "hit")
			b.git("config", "filter.its.own."+setting, "touch '"+hit+"'; cat")
			b.git("config", "filter.its.own.required", "true")
			old := time.Now().Add(-time.Hour)
			b.must(os.Chtimes(b.path("a"), old, old)) // makes git read it
			inert, err := b.repo.Inert(context.Background())
			b.must(err)
			if _, err := inert.Status(context.Background()); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(hit); err == nil {
				t.Error("it ran")
			}
			_, _ = b.repo.Status(context.Background())
			if _, err := os.Stat(hit); err != nil {
				t.Error("a usual one does not run it either: this test shows nothing")
			}
		})
	}
	b := newRepo(t)
	b.git("config", "filter.a=b.clean", "cat")
	if _, err := b.repo.Inert(context.Background()); err == nil {
		t.Error("a filter that cannot be overruled was let through")
	}
}
