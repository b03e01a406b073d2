package cli

// Help shows examples of the command that most people type first.
func (runCmd) Help() string {
	return `The loop ends in exactly one outcome; its exit code tells which (pawl help exit-codes). Ctrl-C keeps the work.

  pawl run plan.md --gate 'go test ./...'
  pawl run "make the upload test stable" --gate 'npm test' --max-iterations 8
  pawl run --dry-run`
}

// Help shows examples.
func (resumeCmd) Help() string {
	return `A loop goes on where it was: no iteration is counted twice, and no work is lost. So does one that ended (at
a limit, stuck, blocked, stopped), if you name it or say yes: what was skipped is open again, with what remains of
its limits, or those that you give it now. Commits of your own since then are kept, and work goes on from them. One
that lived in a session goes on in the session that asks for it.

  pawl resume
  pawl resume brisk-otter --max-iterations 10`
}
