package testdiff

import "testing"

// A fake may get the methods that its interface gets, and nothing else that an old test would notice.
func TestFakeGetsOnlyTheMethodsOfItsInterface(t *testing.T) {
	t.Parallel()
	const fake = "package shop\n\nimport \"errors\"\n\ntype fakeStore struct {\n\tlinks map[string]string\n}\n\nfunc (f fakeStore) Follow(id string) (string, error) {\n\tif f.links[id] == \"\" {\n\t\treturn \"\", errors.New(\"none\")\n\t}\n\treturn f.links[id], nil\n}\n"
	const get = "\nfunc (f fakeStore) Get(id string) (string, error) {\n\tlink := f.links[id]\n\treturn link, nil\n}\n"
	work := Work{Task: "Hits counts", InterfaceMethods: map[string]bool{}}
	for _, name := range InterfaceMethods("store.go", []byte("package shop\n\n// Store keeps.\ntype Store interface {\n\tFollow(id string) (string, error)\n\tGet(id string) (string, error)\n}\n\nfunc (m memory) String() string { return \"\" }\n")) {
		work.InterfaceMethods[name] = name != "Follow"
	}
	for name, c := range map[string]struct {
		now  string
		want bool
	}{
		"the method":             {fake + get, true},
		"with a field":           {edited(fake, "\tlinks map[string]string\n", "\tlinks map[string]string\n\treads int\n") + get, true},
		"and a test":             {edited(fake, "import \"errors\"", "import (\n\t\"errors\"\n\t\"testing\"\n)") + get + "\nfunc TestGet(t *testing.T) {\n\tif got, _ := (fakeStore{}).Get(\"a\"); got != \"\" {\n\t\tt.Error(got)\n\t}\n}\n", true},
		"another method":         {fake + get + "\nfunc (f fakeStore) String() string { return \"want\" }\n", false},
		"what it did is other":   {edited(fake, "return \"\", errors.New(\"none\")", "return \"\", nil") + get, false},
		"what it did is shorter": {edited(fake, "\tif f.links", "\treturn \"x\", nil\n\tif f.links") + get, false},
		"no method":              {fake + "\nfunc helper() int { return 1 }\n", false},
	} {
		got := work.Adapt([]File{{"fake_test.go", []byte(fake)}}, []File{{"fake_test.go", []byte(c.now)}})
		if adapted := len(got) == 1 && string(got[0].Content) == c.now; adapted != c.want {
			t.Errorf("%s: adapted %v, want %v: %+v", name, adapted, c.want, got)
		}
	}
}
