package failure_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/pawl-dev/pawl/internal/failure"
)

func TestHintAndCodeSurviveWrapping(t *testing.T) {
	t.Parallel()
	inner := failure.New(failure.Usage, "commit them", "the work tree is dirty")
	outer := failure.New(failure.Error, "", "begin loop: %w", inner)
	cases := []struct {
		name string
		err  error
		hint string
		code failure.Code
	}{
		{"nil", nil, "", 0},
		{"plain", errors.New("x"), "", failure.Error},
		{"own", inner, "commit them", failure.Usage},
		{"wrapped by fmt", fmt.Errorf("run: %w", inner), "commit them", failure.Usage},
		{"full disk", fmt.Errorf("append to journal: %w", syscall.ENOSPC), "the disk is full: free some space", failure.Error},
		{"full disk, own hint", failure.New(failure.Error, "continue", "%w", syscall.ENOSPC), "continue", failure.Error},
		{"outer code, inner hint", outer, "commit them", failure.Error},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := failure.Hint(c.err); got != c.hint {
				t.Errorf("hint = %q, want %q", got, c.hint)
			}
			if got := failure.CodeOf(c.err); got != c.code {
				t.Errorf("code = %d, want %d", got, c.code)
			}
		})
	}
}
