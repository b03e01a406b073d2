package guard

// userConfig judges commands that write the user's own configuration of a tool: it
// would hold for all that they do afterwards, and for the gates.
func (j *check) userConfig(name string, args []word) {
	ops := operands(without(args, "L", "--location --prefix --userconfig --registry"))
	if name == "python" && begins(args, "-m pip") {
		name, args = "pip", args[2:]
		ops = operands(args)
	}
	what := ""
	switch {
	case name == "go" && begins(ops, "env") && has(args, "", "wu"):
		what = "go env -w"
	case listed("npm pnpm", name) && (sets(ops) || begins(ops, "set *")):
		if at, ok := option(args, "-L", "--location"); ok && at.Text == "project" {
			j.write(".npmrc", false)
			return
		}
		what = name + " config set"
	case listed("yarn pip", name) && sets(ops):
		what = name + " config set"
	}
	if what != "" {
		j.advise(Deny, RuleOutside, what+" changes the user's own configuration",
			"set it for one command in its environment (NAME=value COMMAND), or in a file of the project's")
	}
}

// sets tells the subcommands that change a tool's configuration.
func sets(ops []word) bool {
	return len(ops) > 1 && listed("config c", ops[0].Text) && listed("set unset delete rm edit", ops[1].Text)
}
