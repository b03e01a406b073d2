package proc

import "runtime"

// commandName passes the command to cmd.exe, which does not understand Go's quoting of arguments.
const commandName = "PAWL_COMMAND"

// Shell returns the command line of the system's shell for a command, and variables to add to the
// environment.
func Shell(text string) (argv, env []string) {
	if runtime.GOOS == "windows" {
		return []string{"cmd", "/d", "/c", "%" + commandName + "%"}, []string{commandName + "=" + text}
	}
	return []string{"sh", "-c", text}, nil
}
