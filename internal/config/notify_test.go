package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/core/notice"
)

func TestNotifyMergesByEvent(t *testing.T) {
	t.Parallel()
	user := Layer{name: layerUser, file: "config.toml", values: map[string]any{"notify": map[string]any{
		"to": []any{"desktop", "slack env:SLACK_URL"}, "wait": "off", "quiet": "22:00-07:00",
	}}}
	project := Layer{name: layerProject, file: "pawl.toml", repo: true, values: map[string]any{"notify": map[string]any{"budget": "bell"}}}
	got, err := Resolve(user, project)
	if err != nil {
		t.Fatal(err)
	}
	want := Notify{To: []string{"desktop", "slack env:SLACK_URL"}, Wait: []string{"off"}, Budget: []string{"bell"}, Quiet: "22:00-07:00"}
	if diff := cmp.Diff(want, got.Notify); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got, err = Resolve(user, project, Flags(map[string]any{"notify": []string{"bell"}})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Notify{To: []string{"bell"}, Quiet: "22:00-07:00"}, got.Notify); diff != "" {
		t.Errorf("a flag replaces all lists (-want +got)\n%s", diff)
	}
}

// A repository's command or remote receiver needs trust. This holds for each form of a receiver,
// and also if the user has set receivers.
func TestNotifyOfARepositoryNeedsTrust(t *testing.T) {
	t.Parallel()
	user := Layer{name: layerUser, file: "config.toml", values: map[string]any{"notify": map[string]any{"to": "ntfy env:MINE", "ended": "command mine"}}}
	repo := func(v any) Layer {
		return Layer{name: layerProject, file: "pawl.toml", repo: true, values: map[string]any{"notify": v}}
	}
	flags := Flags(map[string]any{"notify": []string{"command typed"}})
	cases := []struct {
		name   string
		layers []Layer
		want   []string
	}{
		{"user alone", []Layer{user}, nil},
		{"list", []Layer{user, repo([]any{"command ./steal", "bell"})}, []string{"command ./steal"}},
		{"table", []Layer{user, repo(map[string]any{"ended": "webhook file:x", "wait": "desktop"})}, []string{"webhook file:x"}},
		{"flag over list", []Layer{user, repo("command ./steal"), flags}, nil},
		{"flag over table", []Layer{user, repo(map[string]any{"to": "command ./steal"}), flags}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := Resolve(c.layers...)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, command := range s.RepoCommands() {
				got = append(got, command.Text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestNotifyRefusesWhatCannotBeReached(t *testing.T) {
	t.Parallel()
	for text, wants := range map[string]string{
		"smoke me":                              "want off, bell",
		"slack https://hooks.example.com/T/B/X": "may contain a secret",
		"ntfy":                                  "env:NAME",
		"command":                               "needs the command",
		"bell loud":                             "cannot be combined",
	} {
		_, err := Resolve(Flags(map[string]any{"notify": []string{text}}))
		if err == nil || !strings.Contains(err.Error(), wants) || !strings.HasPrefix(err.Error(), "--notify: ") {
			t.Errorf("--notify %q: %v, want %q", text, err, wants)
		}
	}
	for _, hours := range []string{"22-7", "22:00", "07:00-07:00"} {
		if notice.CheckQuietHours(hours) == nil {
			t.Errorf("quiet = %q is accepted", hours)
		}
	}
}

// Only the user sets notify.answers, with their own address. The setting remains if a flag or a
// repository chooses other receivers.
func TestOnlyTheUserSetsNotifyAnswers(t *testing.T) {
	t.Parallel()
	table := func(answers ...string) map[string]any {
		return map[string]any{"notify": map[string]any{"to": "desktop", "answers": answers}}
	}
	user := Layer{name: layerUser, file: "config.toml", values: table("telegram env:T from 42, 43", "slack file:~/.slack from U0123ABCD")}
	project := Layer{name: layerProject, file: ProjectFile, repo: true, values: map[string]any{"notify": "bell"}}
	got, err := Resolve(user, project, Flags(map[string]any{"notify": []string{"telegram env:T"}}))
	if err != nil || len(got.Notify.Answers) != 2 {
		t.Errorf("%q, %v", got.Notify.Answers, err)
	}
	project.values = table("telegram env:T from 66")
	if _, err := Resolve(user, project); err == nil || !strings.Contains(err.Error(), "pawl.toml: notify.answers: a repository's file cannot set whose answers count") {
		t.Errorf("a repository names who answers: %v", err)
	}
	for text, wants := range map[string]string{
		"telegram env:T":                "want who may answer",
		"telegram env:T from ":          "want who may answer",
		"telegram env:T from @alice":    "not the id of a sender",
		"slack env:T from 42":           "not the id of a sender",
		"telegram file:token from 42":   "a whole path",
		"discord env:T from 42":         "takes no answers",
		"telegram https://x/y from 42":  "may contain a secret",
		"slack file:../x from U0123ABC": "a whole path",
	} {
		_, err := Resolve(Layer{name: layerUser, values: table(text)})
		if err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("answers %q: %v, want %q", text, err, wants)
		}
	}
}
