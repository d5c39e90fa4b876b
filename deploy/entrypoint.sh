#!/bin/sh
# Entry point of the image. Arguments are those of `plumb`. Without arguments it runs the search site and the scheduler of
# the working folder, or with PLUMB_DEMO=1 the demo.
if [ $# -gt 0 ]; then exec plumb "$@"; fi
if [ "${PLUMB_DEMO:-}" = 1 ]; then exec plumb demo --folder /data/demo; fi
exec plumb up
