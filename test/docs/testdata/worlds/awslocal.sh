# The checkout's programs are there. The local AWS ends with the shell.
ln -s ../programs bin
trap 'kill $(jobs -p)' EXIT
