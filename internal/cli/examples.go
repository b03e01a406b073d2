package cli

// Help shows examples of the command that most people type first.
func (runCmd) Help() string {
	return `Each loop ends with one outcome and its exit code (pawl help exit-codes). Ctrl-C keeps the work.

  pawl run plan.md --gate 'go test ./...'
  pawl run "make the upload test stable" --gate 'npm test' --max-iterations 8
  pawl run --dry-run`
}

// Help shows examples.
func (resumeCmd) Help() string {
	return `A loop continues where it was: no iteration counts twice, and no work is lost. If you name a loop that
ended (at a limit, stuck, blocked, stopped), its skipped tasks open again, within the limits that remain
or those that you set now. Pawl keeps the commits that you made meanwhile. A session's loop continues in
the session that resumes it.

After a restart of the machine, --after-restart resumes the loops that ran in the background (--detach): those whose
process is gone, and those that TERM ended within a day. pawl install service does that when you log in.

  pawl resume
  pawl resume brisk-otter --max-iterations 10
  pawl resume --after-restart`
}
