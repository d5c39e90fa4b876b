#!/bin/bash
# Entry point of the image. Arguments are those of `plumb`. Without arguments it runs the search site and the scheduler of
# the working folder, or with PLUMB_DEMO=1 the demo. If one of the two ends, the container ends.
set -u
if [ $# -gt 0 ]; then exec plumb "$@"; fi
if [ "${PLUMB_DEMO:-}" = 1 ]; then exec plumb demo --folder /data/demo; fi

run_scheduler() {
    until [ -f vertical.toml ]; do sleep 2; done  # the setup pages write it
    exec plumb schedule
}

plumb serve & run_scheduler &
trap 'kill $(jobs -p) 2>/dev/null' INT TERM
wait -n
status=$?
kill $(jobs -p) 2>/dev/null
wait
exit "$status"
