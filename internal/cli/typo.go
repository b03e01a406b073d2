package cli

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pawl-dev/pawl/internal/failure"
)

// nearestCommand is the command that was probably meant, by a mistyped name or by
// the word that other tools have for it; "" if there is none.
func nearestCommand(n *kong.Node, written string) string {
	var names []string
	for _, c := range shownOf(n) {
		names = append(names, c.Name)
	}
	if near := failure.Nearest(written, names); near != "" {
		return near
	}
	if n.Parent != nil {
		return ""
	}
	switch strings.ToLower(written) {
	case "cancel", "abort", "kill", "end", "quit":
		return "stop"
	case "ls", "ps":
		return "list"
	case "show", "info":
		return "status"
	case "history", "journal":
		return "log"
	case "continue", "unpause", "retry":
		return "resume"
	case "grant", "accept":
		return "approve"
	case "deny", "refuse":
		return "reject"
	case "revert", "rollback":
		return "undo"
	case "message", "say", "send":
		return "tell"
	case "init", "setup":
		return "install"
	case "check", "test":
		return "verify"
	}
	return ""
}

// nearestFlag is the same for a flag of a command, as it is typed.
func nearestFlag(n *kong.Node, written string) string {
	var names []string
	for _, group := range n.AllFlags(true) {
		for _, f := range group {
			names = append(names, f.Name)
		}
	}
	words := strings.FieldsFunc(strings.ToLower(written), func(r rune) bool { return r == '-' || r == '_' })
	for i, word := range words {
		switch word {
		case "time":
			words[i] = "duration"
		case "turns", "loops", "rounds", "iters":
			words[i] = "iterations"
		case "budget", "usd", "price":
			words[i] = "cost"
		}
	}
	near := failure.Nearest(written, names)
	if near == "" {
		near = failure.Nearest(strings.Join(words, "-"), names)
	}
	if near == "" {
		return ""
	}
	return "--" + near
}
