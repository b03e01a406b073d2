package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Serve answers requests until ctx ends. Requests under way then have a moment to end.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	srv := &http.Server{
		Handler: h, BaseContext: func(net.Listener) context.Context { return live },
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: runTime + 15*time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 32 << 10,
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve pages: %w", err)
	case <-ctx.Done():
	}
	end() // live streams have no end of their own
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	err := srv.Shutdown(wait)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("end serving pages: %w", err)
	}
	return nil
}
