// Package plugins holds Pawl's plugins for agents, one folder for each agent, as
// they stand in the repository. Package internal/plugin makes from them what is
// installed.
package plugins

import "embed"

// Claude is the folder claude: a marketplace of Claude Code with one plugin.
//
//go:embed all:claude
var Claude embed.FS
