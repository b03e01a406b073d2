// Package e2e holds tests of the built pawl binary from outside: each makes a
// repository and a home, runs pawl there as a user would, and looks at what is
// left. Nothing of the product is called but the binary.
//
// Two agents play. The scripted one, built in, needs nothing: with it the
// ordinary `go test` looks at kills, refusals and odd repositories. The real
// client talks to a scripted Messages API on loopback (agenttest/messagesapi);
// those tests are skipped where there is no client, unless PAWL_E2E=1 says that
// there must be one. See agenttest.Client for where it is looked for. Either Pawl
// runs the client, or people do and Pawl takes part by its hooks: session_*_test.go,
// with `claude -p` (TestSession…) and on a terminal (TestTerminal…, in tmux), where
// a script types as well. Clients that Pawl starts beside a session, or instead of
// it, talk to the same API: their session ids tell them apart (sessions.two).
//
// `go test ./internal/e2e -run Kill -kills 1000` kills loops a thousand times: those
// of `pawl run` (TestKills), and those that move between a session and a runner
// (TestHandoverKills), where the test itself tells the hooks what a client would.
package e2e
