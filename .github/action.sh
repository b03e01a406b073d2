#!/usr/bin/env bash
# Runs a loop in a job of GitHub Actions, pushes its branch and posts the report.
# action.yml, beside the folder, tells what its variables mean.
set -euo pipefail

arguments=(run --yes)
while IFS= read -r gate; do [[ -z $gate ]] || arguments+=(--gate "$gate"); done <<<"$GATES"
while IFS= read -r option; do [[ -z $option ]] || arguments+=("$option"); done <<<"$OPTIONS"
# The plan may be the text of an issue: after -- it cannot be an option.
[[ -z $PLAN ]] || arguments+=(-- "$PLAN")

if ! command -v pawl >/dev/null; then
	if [[ -z $VERSION ]]; then
		echo '::error::pawl is not on the PATH: say which version to install, by version:' >&2
		exit 2
	fi
	curl -fsSL --max-time 300 -o "$RUNNER_TEMP/install-pawl.sh" "https://github.com/pawl-dev/pawl/releases/download/v$VERSION/install.sh"
	sh "$RUNNER_TEMP/install-pawl.sh" --prefix "$RUNNER_TEMP/pawl"
	export PATH=$RUNNER_TEMP/pawl/bin:$PATH
fi
# A runner has no name to commit by.
if ! git config user.email >/dev/null; then
	export GIT_AUTHOR_NAME='github-actions[bot]' GIT_AUTHOR_EMAIL='41898282+github-actions[bot]@users.noreply.github.com'
	export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
fi

[[ $TRUST != true ]] || pawl trust --yes

code=0 unsent=
# A line of an agent or a gate that begins with :: is no command to the runner.
words=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$words"
pawl "${arguments[@]}" || code=$?
echo "::$words::"
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
[[ $code != 2 ]] || exit 2 # no loop began: there is no report of it

report=$RUNNER_TEMP/pawl-report.md
pawl report . --md >"$report" || echo "pawl report failed: see the log of the job" >"$report"
cat "$report" >>"$GITHUB_STEP_SUMMARY"
echo "report=$report" >>"$GITHUB_OUTPUT"

branch=$(git branch --show-current)
if [[ $PUSH == true && $branch == pawl/* ]]; then
	git push --quiet origin "HEAD:refs/heads/$branch"
	echo "branch=$branch" >>"$GITHUB_OUTPUT"
	if [[ $PULL_REQUEST == true ]]; then
		title="Pawl: ${PLAN:-the plan}"
		title=${title%%$'\n'*}
		gh pr create --head "$branch" --base "$BASE" --title "${title:0:200}" --body-file "$report" || unsent='open the pull request'
	fi
fi
[[ -z $COMMENT_ON ]] || gh pr comment "$COMMENT_ON" --body-file "$report" || unsent='comment on the pull request'
if [[ -n $unsent ]]; then
	echo "::error::gh did not $unsent: the report is in the summary of the job" >&2
	[[ $code != 0 ]] || code=1
fi
exit "$code"
