package verify_test

import (
	"os"
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

func TestMain(m *testing.M) {
	agenttest.Part()
	os.Exit(m.Run())
}
