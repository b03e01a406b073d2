package mutant

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A type is made from the parameters of its constructor, or from its fields.
func TestValuesAreConstructed(t *testing.T) {
	for _, c := range []struct {
		file, text string
		want       map[string][]string
	}{
		{"a.py", "class Throttle:\n    \"\"\"rate: calls\"\"\"\n\n    def __init__(self, rate, per=(1, 2)):\n        self.rate: int = rate\n", map[string][]string{"Throttle": {"self", "rate", "per=(1, 2)"}}},
		{"a.py", "@dataclass\nclass Money:\n    cents: int\n    currency: str = \"EUR\"\n\n    def text(self):\n        n: int = 2\n        return n\n\n\nclass Other(Money):\n    pass\n", map[string][]string{"Money": {"cents", "currency"}, "Other": nil}},
		{"a.js", "export class Cache extends Map {\n  #size;\n  constructor(load, ttl) {\n    super();\n  }\n}\n", map[string][]string{"Cache": {"load", "ttl"}}},
		{"a.ts", "class Cache {\n  constructor(private load: Load, readonly ttl = 0) {}\n}\n", map[string][]string{"Cache": {"private load: Load", "readonly ttl = 0"}}},
		{"A.java", "public class A {\n    private int n;\n\n    public A(int n, String s) {\n        this.n = n;\n    }\n}\n", map[string][]string{"A": {"int n", "String s"}}},
		{"P.java", "record P(int x, int y) { }\n", map[string][]string{"P": {"int x", "int y"}}},
		{"a.go", "type Line struct {\n\tCustomer string // who\n\tCents, Tax int64\n\tat []int\n}\n\ntype Set map[string]bool\n\nfunc f() {\n\tx := 1\n}\n", map[string][]string{"Line": {"Customer", "Cents", "Tax", "at"}}},
		{"a.rs", "#[derive(Debug)]\npub struct Config {\n    pub host: String,\n    port: u16,\n}\n\nstruct Meters(f64);\n", map[string][]string{"Config": {"host", "port"}, "Meters": {"f64"}}},
		{"a.txt", "class A:\n    x: int\n", map[string][]string{}},
	} {
		if diff := cmp.Diff(c.want, Constructors(c.file, []byte(c.text))); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", c.file, c.text, diff)
		}
	}
}
