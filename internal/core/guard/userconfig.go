package guard

// checkUserConfig denies commands that write the user's own configuration of a tool. It would
// apply to all later runs of the tool, and to the gates.
func (j *checker) checkUserConfig(name string, args []word) {
	ops := operandsAmongValued(args, "L", "--location --prefix --userconfig --registry")
	if name == "python" && startWith(args, "-m pip") {
		name, args = "pip", args[2:]
		ops = operands(args)
	}
	what := ""
	switch {
	case name == "go" && startWith(ops, "env") && hasOption(args, "", "wu"):
		what = "go env -w"
	case inList("npm pnpm", name) && (isConfigChange(ops) || startWith(ops, "set *")):
		if at, ok := optionValue(args, "-L", "--location"); ok && at.Text == "project" {
			j.checkWrite(".npmrc", false)
			return
		}
		what = name + " config set"
	case inList("yarn pip", name) && isConfigChange(ops):
		what = name + " config set"
	}
	if what != "" {
		j.applyRuleWith(Deny, RuleOutside, what+" changes the user's own configuration",
			"set it for one command in its environment (NAME=value COMMAND), or in a file of the project's")
	}
}

// isConfigChange reports whether a subcommand changes a tool's configuration.
func isConfigChange(ops []word) bool {
	return len(ops) > 1 && inList("config c", ops[0].Text) && inList("set unset delete rm edit", ops[1].Text)
}
