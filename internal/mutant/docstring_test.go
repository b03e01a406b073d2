package mutant

import "testing"

// A docstring is no part of what a function does; what stands behind it is.
func TestDocstringsAreNoChange(t *testing.T) {
	t.Parallel()
	const before = "def f(x):\n    return x\n"
	for after, want := range map[string]int{
		"def f(x):\n    \"\"\"Gives it back.\n\n    >>> f(1)\n    1\n    \"\"\"\n    return x\n": 0,
		"def f(x):\n    \"Gives.\"; g()\n    return x\n":                                         1,
		"def f(x):\n    \"Gives.\"\n    return x + 1\n":                                          1,
	} {
		if got := Changed("a.py", []byte(before), []byte(after)); len(got) != want {
			t.Errorf("%s\n%+v", after, got)
		}
	}
}
