#!/usr/bin/env bash
# A stand-in for the Stop hooks that people loop with: not one of them, but the
# same kind of work. It looks at a state file in the project's folder, searches
# the whole transcript for what the agent said, takes the last message apart with
# jq, and sends the agent back to work.
set -euo pipefail

payload=$(cat)
state=.claude/ralph-loop.local.md
[[ -f $state ]] || exit 0

header=$(awk '/^---$/ { n++; next } n == 1' "$state")
field() { printf '%s\n' "$header" | sed -n "s/^$1: *//p" | tr -d '"'; }

mine=$(field session_id)
[[ -z $mine || $mine == "$(jq -r '.session_id // ""' <<<"$payload")" ]] || exit 0

count=$(field iteration)
transcript=$(jq -r '.transcript_path' <<<"$payload")
last=$(grep '"role":"assistant"' "$transcript" | tail -n 100 |
	jq -rs '[.[] | .message.content[]? | select(.type == "text") | .text] | last // ""')

promise=$(field completion_promise)
if [[ $last == *"<promise>$promise</promise>"* ]]; then
	rm -f "$state"
	exit 0
fi

sed "s/^iteration: .*/iteration: $((count + 1))/" "$state" >"$state.new"
mv "$state.new" "$state"
jq -n --arg prompt "$(awk '/^---$/ { n++; next } n >= 2' "$state")" --arg n "$((count + 1))" \
	'{decision: "block", reason: $prompt, systemMessage: ("iteration " + $n)}'
