package mutant_test

import (
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/mutant"
)

// A new function that takes something and does nothing with it is as it would be with its body broken: no test can
// notice. One that takes nothing, and one that others write, is as it should be.
func TestFunctionsThatDoNothing(t *testing.T) {
	t.Parallel()
	for file, c := range map[string]struct{ code, want string }{
		"a.go":   {"package a\n\nfunc (c *Cart) Remove(name string) {}\nfunc (c *Cart) mark() {}\nfunc (nop) Log(_ string, _ ...any) {}\nfunc (nop) Close(error) {}\n", "Cart.Remove"},
		"a.py":   {"class Cart:\n    def remove(self, name):\n        pass\n\n    def clear(self): pass\n\n    @abc.abstractmethod\n    def add(self, name):\n        pass\n\n    def get(self, name): ...\n", "Cart.remove"},
		"a.js":   {"class Cart {\n  constructor() {}\n  remove(name) {}\n  ignore(_name) {}\n}\n", "Cart.remove"},
		"a.java": {"class Cart {\n  private Cart() {}\n  void remove(String name) {\n    // later\n  }\n}\n", "Cart.remove"},
		"a.c":    {"void lock(void) {}\nvoid cart_remove(struct cart *c, const char *name)\n{\n}\n", "cart_remove"},
		"a.rs":   {"impl Cart {\n    pub fn remove(&mut self, name: &str) {}\n    pub fn ignore(&self, _name: &str) {}\n}\n", "Cart.remove"},
	} {
		var got []string
		for _, f := range mutant.Changed(file, nil, []byte(c.code)) {
			got = append(got, f.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", file, got, c.want)
		}
	}
}
