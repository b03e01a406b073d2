package agent

import (
	"context"
	"errors"
)

// ErrLoginUnknown is returned by CheckLogin where the client cannot tell.
var ErrLoginUnknown = errors.New("the client does not say whether somebody is logged in")

// LoginChecker is an Agent that can tell, without asking a model, whether somebody
// is logged in.
type LoginChecker interface {
	// CheckLogin asks the client as it would be started with o. It returns nil if
	// somebody is logged in, ErrLoginUnknown if that cannot be told, and else an
	// error with a hint. Bounded.
	CheckLogin(ctx context.Context, o Options) error
}
