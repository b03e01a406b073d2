package testdiff

import "testing"

func TestAddsExamples(t *testing.T) {
	t.Parallel()
	const was = `def ago(seconds):
    """How long ago.

    >>> ago(5)
    '5 seconds ago'
    >>> ago(3600)
    '1 hour ago'
    """
    return f"{seconds} seconds ago"
`
	for _, c := range []struct {
		what, now string
		want      bool
	}{
		{"one more behind", "def ago(s):\n    \"\"\"How long ago.\n\n    >>> ago(5)\n    '5 seconds ago'\n    >>> ago(3600)\n    '1 hour ago'\n    >>> ago(60)\n    '1 minute ago'\n    \"\"\"\n    return 1\n", true},
		{"and one in another function", "def zero():\n    \"\"\"\n    >>> zero()\n    0\n    \"\"\"\n" + was, true},
		{"before them", "def ago(s):\n    \"\"\"\n    >>> ago = str\n    >>> ago(5)\n    '5 seconds ago'\n    >>> ago(3600)\n    '1 hour ago'\n    \"\"\"\n", false},
		{"an expected line changed", "def ago(s):\n    \"\"\"\n    >>> ago(5)\n    '5 seconds ago'\n    >>> ago(3600)\n    '3600 seconds ago'\n    \"\"\"\n", false},
		{"more lines expected of the last", "def ago(s):\n    \"\"\"\n    >>> ago(5)\n    '5 seconds ago'\n    >>> ago(3600)\n    '1 hour ago'\n    ...\n    \"\"\"\n", false},
		{"one gone", "def ago(s):\n    \"\"\"\n    >>> ago(5)\n    '5 seconds ago'\n    \"\"\"\n", false},
		{"defined once more", was + "def ago(s): return 1\n", false},
		{"in another function", "def old(s):" + was[len("def ago(seconds):"):], false},
	} {
		if got := AddsExamples("ago.py", []byte(was), []byte(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
