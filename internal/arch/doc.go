// Package arch holds the rules of the house as tests: who may import whom, how
// long a file may be, which names mean nothing. It has no code of its own.
//
// The policy stands as data in policy_test.go. It is a statement of intent: do
// not change it to make a build pass; change the code, or the intent.
//
// The tests read the source with go/parser, over files that they open
// themselves. A test that asked `go list` instead would be wrong: go test caches
// a result by the files the test opened, so it would continue saying "ok".
//
// Here too stand the tests of what is said about the code: paths named in the
// documents exist, examples in them do what they show, and the tool starts as
// fast as it should.
package arch
