package tracker_test

import (
	"testing"

	"github.com/pawl-dev/pawl/internal/agent/agenttest"
)

func TestMain(m *testing.M) {
	agenttest.Sample()
	m.Run()
}
