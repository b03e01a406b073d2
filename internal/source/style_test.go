package source_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/source"
)

func TestBareFileBlanksCommentsAndStrings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, text, code, uncommented string }{
		{"a.sh", `echo "$#" # 'x'`, `echo "  "      `, `echo "$#"      `},
		{"a.sh", `n=$#; f a#b`, `n=$#; f a#b`, `n=$#; f a#b`},
		{"a.py", `x = """#""" # y`, `x = """ """    `, `x = """#"""    `},
		{"a.rs", `r#"a"b"# // y`, `r#"   "#     `, `r#"a"b"#     `},
		{"a.rs", `'"'; 'a`, `'"'; 'a`, `'"'; 'a`},
		{"a.go", "`//` // y", "`  `     ", "`//`     "},
		{"a.php", `'//' # y`, `'  '    `, `'//'    `},
		{"a.ex", `'# y`, `'   `, `'   `},
		{"a.unknown", `"a" // y`, `"a" // y`, `"a" // y`},
	} {
		if got := source.BareFile(c.file, c.text).Code; got != c.code {
			t.Errorf("%s: the code of %s is %q, want %q", c.file, c.text, got, c.code)
		}
		if got := source.UncommentedFile(c.file, c.text); got != c.uncommented {
			t.Errorf("%s: without comments %s is %q, want %q", c.file, c.text, got, c.uncommented)
		}
	}
}

func TestExtensionsAreMatched(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{"a.js": true, "b/a.jsx": true, "a.mjs": false, "js": false, "a.": false, "": false} {
		if source.HasExtension("*.js *.jsx", file) != want {
			t.Errorf("%q: %v", file, !want)
		}
	}
}
