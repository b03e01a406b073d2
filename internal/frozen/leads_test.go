package frozen

import "testing"

func TestWhereImportsLead(t *testing.T) {
	t.Parallel()
	const (
		mod  = "module m\n\nrequire x v1.0.0\n"
		pack = `{"name": "m", "imports": {"#a": "./a.js"}}`
		ts   = `{"compilerOptions": {"paths": {"@/*": ["src/*"]}}}`
	)
	cases := []struct {
		what, file, was, now string
		want                 bool
	}{
		{"another dependency", "go.mod", mod, mod + "require y v1.0.0\n", false},
		{"a module that is required, replaced", "go.mod", mod, mod + "replace  x => ../x // near\n", true},
		{"in a block", "sub/go.mod", "require (\n\tx v1\n)\n", "require (\n\tx v1\n)\nreplace(\n\n\t// ours\n\tx v1 => ./x\n)\n", true},
		{"a module that is new", "go.mod", mod, mod + "require y v1.0.0\nreplace y => ./y\n", false},
		{"one of a longer name", "go.mod", mod, mod + "replace x/sub => ./y\n", false},
		{"replaced by another", "go.mod", "replace x => ./x\n", "replace x => ./y\n", true},
		{"replaced no more", "go.mod", "replace x => ./x\n", "", true},
		{"moved to a block", "go.mod", "replace x => ./x\n", "replace (\n\tx => ./x\n)\n", false},
		{"a new workspace", "go.work", "", "go 1.21\nuse .\n", true},
		{"a workspace, formatted", "go.work", "use .\nuse ./a\n", "use (\n\t.\n\t./a\n)\n", false},
		{"another script", "package.json", pack, `{"name": "m", "imports": {"#a": "./a.js"}, "scripts": {"x": "y"}}`, false},
		{"a new name", "package.json", pack, `{"imports": {"#a": "./a.js", "#b": "./b.js"}}`, false},
		{"another file", "package.json", pack, `{"imports": {"#a": "./b.js"}}`, true},
		{"what is no JSON", "package.json", pack, "{", true},
		{"what never was", "package.json", "{", pack, false},
		{"another option", "tsconfig.json", ts, `{"compilerOptions": {"strict": true, /* as */ "paths": {"@/*":["src/*"]},}}`, false},
		{"another path", "web/tsconfig.test.json", ts, `{"compilerOptions": {"paths": {"@/*": ["src/*"], "chai": ["./c"]}}}`, true},
		{"another base", "jsconfig.json", "{}", `{"compilerOptions": {"baseUrl": "fake"}}`, true},
		{"no settings", "tsconfig.json", "", `{"compilerOptions": []}`, false},
		{"no JSON with comments", "tsconfig.json", "{}", "{{", false},
		{"another crate", "Cargo.toml", "[dependencies]\na = \"1\"\n", "[dependencies]\na = \"2\"\n", false},
		{"a patch", "Cargo.toml", "", "[patch.crates-io]\na = { path = \"../a\" }\n", true},
		{"no TOML", "Cargo.toml", "", "= x", false},
	}
	for _, c := range cases {
		if got := Leads(c.file)([]byte(c.was), []byte(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v\n%s\n→\n%s", c.what, got, c.want, c.was, c.now)
		}
	}
	for _, file := range []string{"main.go", "package.json.md", "settings.json", "go.sum"} {
		if Leads(file) != nil {
			t.Errorf("%s leads nowhere", file)
		}
	}
}
