#!/usr/bin/env bash
# The GitHub Action: prints annotations, adds the report to the job's summary, and writes further reports to a folder.
# Inputs are SQLAUDIT_* variables, never text inside a command.
set -uo pipefail

work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/sqlaudit.XXXXXX")
trap 'rm -rf "$work"' EXIT

arguments=(test --format github --report "$work/summary.md")
if [ -n "${SQLAUDIT_DBT_PROJECT:-}" ]; then
    arguments+=(--dbt-project "$SQLAUDIT_DBT_PROJECT")
else
    arguments+=(-f "${SQLAUDIT_POLICY:-sqlaudit.yml}")
fi
[ -z "${SQLAUDIT_SELECT:-}" ] || arguments+=(--select "$SQLAUDIT_SELECT")
[ -z "${SQLAUDIT_BASELINE:-}" ] || arguments+=(--baseline "$SQLAUDIT_BASELINE")
if [ -n "${SQLAUDIT_REPORTS:-}" ]; then
    mkdir -p "$SQLAUDIT_REPORTS" || exit 2
    for ending in xml sarif json; do
        arguments+=(--report "$SQLAUDIT_REPORTS/gate.$ending")
    done
fi

sqlaudit "${arguments[@]}"
code=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$work/summary.md" ]; then
    cat "$work/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "exit-code=$code" >>"$GITHUB_OUTPUT"
fi
exit "$code"
