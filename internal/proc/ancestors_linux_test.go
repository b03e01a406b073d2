package proc_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/proc"
)

// aboveVar makes the test binary print the markers of its ancestors.
const aboveVar = "PAWL_TEST_ABOVE"

func TestAncestorMarkersSurviveCleanedEnvironment(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The shell has the marker; what it starts does not. It must not exec.
	cmd := exec.Command("/bin/sh", "-c", `env -i `+aboveVar+`=1 "$0" -test.run=TestAncestorMarkersSurvive; exit $?`, exe)
	cmd.Env = append(os.Environ(), proc.MarkerName+"=calm-wren-0001")
	if os.Getenv(aboveVar) != "" {

		_, _ = os.Stdout.WriteString("above: " + strings.Join(proc.AncestorMarkers(), " ") + "\n")
		return
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "calm-wren-0001") {
		t.Errorf("%v\n%s", err, out)
	}
}
