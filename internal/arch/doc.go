// Package arch tests the rules of the repository: which package may import which, how
// long a file may be, which names are too vague. It has only tests.
//
// policy_test.go has the policy as data. It states an intent: do not change it to make a
// build pass. Change the code, or the intent.
//
// The tests read the source with go/parser, from files that they open themselves. With
// `go list` they would be wrong: go test caches a result by the files that the test
// opened, so it would print "ok" after a change.
//
// Other tests check the documents: paths in them exist, and their examples print what
// they show. One test checks that the tool starts fast enough.
package arch
