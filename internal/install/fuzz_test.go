package install

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// seeds returns usual and unusual settings files.
func seeds() []string {
	var all []string
	for _, s := range shapes() {
		if len(s.file) < 4<<10 {
			all = append(all, s.file)
		}
	}
	return append(all, `{"hooks":{"Stop":[1,[],{"hooks":[{"command":"pawl-hook","args":[]}]}]},"env":{}}`, `{"hooks":/*a*/{/*b*/},/*c*/}`, "{//\n}")
}

// FuzzInstallAndBack checks any bytes: either they are refused, or the entries are added, a second
// install changes nothing, and an uninstall restores every byte.
func FuzzInstallAndBack(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, file []byte, recorded bool) { thereAndBack(t, file, recorded) })
}

// failer is a test or one run of a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// thereAndBack checks one file. With recorded, older entries were installed in it before.
func thereAndBack(t failer, file []byte, recorded bool) {
	t.Helper()
	kept := bytes.Clone(file)
	var was *Origin
	if recorded {
		old, origin, err := Add(file, older(), nil)
		if err != nil {
			return
		}
		was, file = origin, old
	}
	want := wanted()
	after, origin, err := Add(file, want, was)
	if err != nil {
		if _, parseErr := parse(file); parseErr == nil && !wrongType(file) {
			t.Fatalf("refused though it is fine: %v\n%s", err, file)
		}
		return
	}
	tree, err := parse(after)
	if err != nil {
		t.Fatalf("broken: %v\n%s", err, after)
	}
	for _, e := range want.Events {
		wantGroups(t, tree, e)
	}
	again, same, err := Add(after, want, origin)
	if err != nil || !bytes.Equal(again, after) {
		t.Fatalf("a second time changes it: %v\n%s", err, cmp.Diff(string(after), string(again)))
	}
	if diff := cmp.Diff(origin, same); diff != "" {
		t.Fatalf("a second time forgets how it was: %s", diff)
	}
	back, err := Remove(after, origin)
	if err != nil {
		t.Fatalf("%v\n%s", err, after)
	}
	if origin.Unknown { // our entries were there before
		kept, err = Remove(kept, nil)
	}
	if err != nil || !bytes.Equal(back, kept) {
		t.Fatalf("not as before (%v):\n%q\n%q", err, kept, back)
	}
}

// wantGroups compares our groups of an event with the wanted ones.
func wantGroups(t failer, d *document, e Event) {
	t.Helper()
	hooks := lastMember(d.root, "hooks").Value.(*hujson.Object)
	i := 0
	for _, g := range lastMember(hooks, e.Name).Value.(*hujson.Array).Elements {
		_, mine, all := pawlHooks(g)
		if len(mine) == 0 {
			continue
		}
		if !all || i >= len(e.Groups) || !equalGroup(g, e.Groups[i]) {
			t.Fatalf("%s holds %s", e.Name, g)
		}
		i++
	}
	if i < len(e.Groups) {
		t.Fatalf("%s lacks %v", e.Name, e.Groups[i])
	}
}

// wrongType reports whether a valid file has a wrong type for the hooks or the environment.
func wrongType(file []byte) bool {
	d, _ := parse(file)
	if v := lastMember(d.root, "env"); v != nil && v.Value.Kind() != '{' {
		return true
	}
	v := lastMember(d.root, "hooks")
	if v == nil {
		return false
	}
	hooks, ok := v.Value.(*hujson.Object)
	if !ok {
		return true
	}
	for _, e := range append(wanted().Events, older().Events...) {
		if v := lastMember(hooks, e.Name); v != nil && v.Value.Kind() != '[' {
			return true
		}
	}
	return false
}
