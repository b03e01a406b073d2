package testdiff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A value has the place of another where a line of the program is else the same.
func TestAddSwapped(t *testing.T) {
	const was = "# 7 pieces\nLIMIT = 5\n\n\ndef greet(name):\n    return 'Hello ' + name\n\n\ndef price(n):\n    return n * 20  # 20 for one\n"
	const is = "# 9 pieces\nLIMIT = 20\n\n\ndef greet(name):\n    return 'Hi ' + name\n\n\ndef price(n):\n    return n * 20\n\n\ndef rebate(n, least=30):\n    return 7\n"
	got := map[[2]string]bool{}
	AddReplacements(got, "app.py", []byte(was), []byte(is))
	if diff := cmp.Diff(map[[2]string]bool{{"5", "20"}: true, {"Hello", "Hi"}: true}, got); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}
