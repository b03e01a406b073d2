package install

import (
	"strconv"
	"strings"
)

// wanted and older return the entries of two versions of Pawl: each has an event that the other
// does not have, and one event differs.
func wanted() Entries {
	w := ClaudeHooks("/opt/pawl/pawl-hook", []string{"claude"})
	w.Env = []Var{{StopBlockCap, "0"}}
	return w
}

func older() Entries {
	call := Hook{Type: "command", Command: "pawl", Args: []string{"hook", "claude"}}
	return Entries{Events: Events{
		{"Stop", []Group{{Hooks: []Hook{call}}, {Hooks: []Hook{call}}}},
		{"PreToolUse", []Group{{Matcher: "Bash", Hooks: []Hook{call}}}},
		{"PostToolBatch", []Group{{Hooks: []Hook{call}}}},
	}}
}

// shape is a settings file. refused is why it cannot be edited, "" = it can.
type shape struct{ name, file, refused string }

func shapes() []shape {
	return []shape{
		{name: "empty", file: ""},
		{name: "white space only", file: " \r\n\t\r\n"},
		{name: "mark only", file: "\ufeff"},
		{name: "empty object", file: "{}"},
		{name: "empty object, spaced", file: "{\n\n}\n"},
		{name: "as the client writes it", file: clientFile},
		{name: "other hooks", file: otherHooks},
		{name: "comments and trailing commas", file: commented},
		{name: "CRLF", file: strings.ReplaceAll(clientFile, "\n", "\r\n")},
		{name: "CRLF, comments", file: strings.ReplaceAll(commented, "\n", "\r\n")},
		{name: "tabs", file: strings.ReplaceAll(otherHooks, "  ", "\t")},
		{name: "four spaces, no final line break", file: strings.TrimSuffix(strings.ReplaceAll(otherHooks, "  ", "    "), "\n")},
		{name: "odd indentation", file: "{\n     \"model\": \"opus\",\n   \"hooks\": {\n\"Stop\": [\n            {\"hooks\": []}],\n \"Notification\": []\n        },\n\t \"a\": 1}\n\n\n"},
		{name: "no indentation", file: "{\n\"model\": \"opus\",\n\"hooks\": {\n\"Stop\": []\n}\n}\n"},
		{name: "one line", file: `{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./check.sh"}]}]}}`},
		{name: "one line, minified", file: `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"./check.sh"}]}]}}`},
		{name: "byte order mark", file: "\ufeff" + clientFile},
		{name: "comment without a line's end", file: "{\n  \"model\": \"opus\"\n}\n// the end"},
		{name: "empty lists that stay", file: "{\n  \"env\": { },\n  \"hooks\": {\n    // none yet\n  }\n}\n"},
		{name: "empty events that stay", file: "{\n  \"hooks\": {\n    \"Stop\": [ /* none */ ],\n    \"SessionEnd\": [\n\n    ]\n  }\n}\n"},
		{name: "comments around the last hook", file: "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [] } // mine\n      /* and */ // done */\n    ] /* x */ , // y\n  } // z\n}"},
		{name: "comma on a line of its own", file: "{\n  \"a\": 1\n  , \"hooks\": { \"Stop\": [\n      1\n    , 2 /* two */ ,\n    ] }\n}"},
		{name: "the cap is the user's", file: "{\n  \"env\": {\n    \"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"50\"\n  }\n}\n"},
		{name: "names twice", file: "{\n  \"hooks\": {\"Stop\": 1},\n  \"hooks\": {\n    \"Stop\": [],\n    \"Stop\": [\n      { \"hooks\": [] }\n    ]\n  }\n}\n"},
		{name: "escapes", file: "{\n  \"h\\u006foks\": {\n    \"St\\u006fp\": [\n      { \"hooks\": [ { \"command\": \"caf\\u00e9 \\/ && <b>\" } ] }\n    ]\n  },\n  \"\\ud83d\\ude00\": \"\\ud83d\"\n}\n"},
		{name: "numbers that Go would rewrite", file: "{\n  \"a\": 1e400,\n  \"b\": 1.0,\n  \"c\": 12345678901234567890123,\n  \"d\": -0,\n  \"e\": 1E+2\n}\n"},
		{name: "bytes that are no UTF-8", file: "{\n  \"a\": \"\xff\xfe\"\n}\n"},
		{name: "deep", file: "{\n  \"a\": " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n}\n"},
		{name: "huge", file: huge()},

		{name: "too deep", file: `{"a": ` + strings.Repeat("[", 2_000_000), refused: "line 1, column 10006: nested more than 10000 deep"},
		{name: "a list at the top", file: "[]", refused: "line 1, column 1: the top is a list, not an object"},
		{name: "a string at the top", file: "\n \"{}\"", refused: "line 2, column 2: the top is a string, not an object"},
		{name: "hooks are a list", file: "{\n  \"hooks\": []\n}", refused: `line 2, column 12: "hooks" is a list, not an object`},
		{name: "an event is an object", file: "{\"hooks\": {\"Stop\": {}}}", refused: `line 1, column 20: "hooks.Stop" is an object, not a list`},
		{name: "an event is null", file: "{\"hooks\": {\"Stop\": null}}", refused: `line 1, column 20: "hooks.Stop" is null, not a list`},
		{name: "the environment is a number", file: "\ufeff{\"env\":\n 1.5}", refused: `line 2, column 2: "env" is a number, not an object`},
		{name: "a truth value for hooks", file: `{"hooks": true}`, refused: `line 1, column 11: "hooks" is a truth value, not an object`},
		{name: "cut off", file: "{\n  \"model\": \"opus\",\n  \"hooks\": {", refused: "line 3, column 13: parsing value: unexpected EOF"},
		{name: "a comma lacks", file: "{\n  \"a\": 1\n  \"b\": 2\n}", refused: `line 3, column 3: invalid character '"' after object value (expecting ',' or '}')`},
		{name: "single quotes", file: "{'a': 1}", refused: `line 1, column 2: invalid character '\'' at start of value`},
		{name: "a comment without an end", file: "{} /* x", refused: "line 1, column 4: parsing comment: unexpected EOF"},
		{name: "two values", file: "{}\n{}", refused: "line 2, column 1: invalid character '{' after top-level value"},
		{name: "merge marks", file: "{\n<<<<<<< HEAD\n}", refused: "line 2, column 1: invalid character '<' at start of value"},
		{name: "UTF-16", file: "\xff\xfe{\x00}\x00", refused: `line 1, column 1: invalid character '\xff' at start of value`},
		{name: "a long word", file: `{"a": ` + strings.Repeat("x", 1000) + `}`, refused: "line 1, column 7: invalid literal: " + strings.Repeat("x", 125) + "…"},
	}
}

const clientFile = `{
  "model": "opus",
  "permissions": {
    "allow": [
      "Bash(npm run test:*)",
      "WebFetch(domain:example.org)"
    ],
    "deny": []
  },
  "enabledPlugins": {
    "ralph-loop@claude-plugins-official": true
  },
  "alwaysThinkingEnabled": true
}
`

const otherHooks = `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/pawl-hook-check.sh && echo <done>",
            "timeout": 30
          }
        ]
      }
    ],
    "PreToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [
          {
            "type": "command",
            "command": "jq -r '.tool_input.file_path' | xargs pawl-hook"
          }
        ]
      }
    ],
    "SubagentStart": "not ours to judge"
  },
  "statusLine": {
    "type": "command",
    "command": "~/.claude/pawl-hook"
  }
}
`

const commented = `// my settings
{
  /* the model */
  "model": "opus", // the big one
  "hooks": { // the hooks
    "Stop": [
      // run the tests
      {
        "hooks": [
          { "type": "command", "command": "make test", }, // slow
        ],
      },
      // add more here
    ], // Stop
    /* "SubagentStop": [], */
  },
  // variables
  "env": {
    "EDITOR": "vi", // the one
  },
}
// end
`

// huge returns 5 MB of permissions.
func huge() string {
	var b strings.Builder
	b.WriteString("{\n  \"permissions\": {\n    \"allow\": [\n")
	for i := 0; b.Len() < 5<<20; i++ {
		b.WriteString("      \"Bash(make target-" + strconv.Itoa(i) + " [{*\",\n")
	}
	b.WriteString("      \"Read\"\n    ]\n  }\n}\n")
	return b.String()
}
