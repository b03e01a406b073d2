package sign_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/sign"
)

// What is imported may have a name that is no word, or none.
func TestImportNamesMayContainNonLetters(t *testing.T) {
	t.Parallel()
	for file, code := range map[string]string{
		"star.py":   "from math import *\n\ndef f(*args):\n    return g(*args)\n",
		"dollar.js": "import $ from \"jquery\"\n\n$foo = 1\nx($bar)\n",
		"dot.go":    "package a\n\nimport . \"net/http\"\n\nvar x = f(.5)\n\nvar y = a .b\n",
	} {
		if all := sign.NewChange(file, nil, []byte(code)).Signs(); len(all) > 0 {
			t.Errorf("%s: %+v", file, all)
		}
	}
}
