package verify_test

import (
	"os"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

func TestMain(m *testing.M) {
	agenttest.Part()
	_ = os.Unsetenv("PYTHONDONTWRITEBYTECODE") // set in many images; on users' machines Python compiles
	os.Exit(m.Run())
}
