#!/bin/sh
# Copy this into your repository and edit the three lines marked EDIT.
# It is for any other system, or by hand.
# The commit that is checked out is compared with the last one that it shares with BASE. Both are built
# and run here. The folder benchbook-ci has the comment, the badge, the page and all results.
set -eu

benchbook=${BENCHBOOK:-$HOME/benchbook} # EDIT: where Benchbook is checked out
build=${BUILD:-make}                    # EDIT: the command that builds your program

# EDIT: your program with its arguments, after the two dashes. Exit status 3: a limit is exceeded.
BENCHBOOK_ENV=host exec "$benchbook/scripts/in-env" benchbook ci \
    ${BASE:+--base "$BASE"} \
    --build "$build" \
    --fail-if 'more than 1 %' \
    -- ./program
