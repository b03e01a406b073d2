package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// A changed setting takes effect immediately, wherever it is set.
func TestSettingTakesEffectImmediately(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(b *sandbox){
		"in the repository":         func(b *sandbox) { b.git("config", "commit.gpgSign", "true") },
		"in a file included before": func(b *sandbox) { b.write("../"+filepath.Base(b.dir)+".extra", "[commit]\n\tgpgsign\n") },
		"in a file included now": func(b *sandbox) {
			b.write("more", "[commit]\n\tgpgsign = true\n")
			b.git("config", "include.path", b.path("more"))
		},
		"for a branch": func(b *sandbox) {
			b.write("more", "[commit]\n\tgpgsign = true\n")
			b.git("config", "includeIf.onbranch:other.path", b.path("more"))
			if _, set, err := b.repo.setting(context.Background(), "commit.gpgsign"); set || err != nil {
				b.Fatalf("%t, %v", set, err)
			}
			b.git("checkout", "-qb", "other")
		},
		"of the worktree": func(b *sandbox) {
			b.git("config", "extensions.worktreeConfig", "true")
			b.git("config", "--worktree", "commit.gpgsign", "true")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRepo(t)
			b.git("config", "include.path", "../../"+filepath.Base(b.dir)+".extra")
			is := func(want bool) {
				t.Helper()
				if _, set, err := b.repo.setting(context.Background(), "commit.gpgsign"); set != want || err != nil {
					t.Errorf("%t, %v, want %t", set, err, want)
				}
			}
			is(false)
			set(b)
			is(true)
			is(true)
			b.must(os.RemoveAll(b.path("more")))
			b.must(os.RemoveAll(b.dir + ".extra"))
		})
	}
}

// Bool settings are read as git reads them, in all spellings.
func TestBoolSettings(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "= true", "= YES", "= on", "= 1", "= 2", "= 1k", "= -3", "= false", "= No", "= off", "= 0", "="} {
		b := newRepo(t)
		config := filepath.Join(b.repo.gitDir, "config")
		was, err := os.ReadFile(config)
		b.must(err)
		b.must(os.WriteFile(config, append(was, []byte("[pawl]\n\tis "+line+"\n")...), 0o600))
		is, err := b.repo.boolSetting(t.Context(), "pawl.is")
		if want := b.git("config", "--type=bool", "pawl.is") == "true"; is != want || err != nil {
			t.Errorf("is %s: %t, %v, want %t", line, is, err, want)
		}
	}
	b := newRepo(t)
	b.git("config", "pawl.is", "perhaps")
	if is, err := b.repo.boolSetting(t.Context(), "pawl.is"); is || err == nil {
		t.Errorf("a word that git cannot read: %t, %v", is, err)
	}
}
