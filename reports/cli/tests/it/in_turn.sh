# Two clients in turn, for `doublehold drive`: c1 takes the lock and holds it for 200 ms, and c2 asks meanwhile. FIRST is
# what is done before.
exec 3<>"/dev/tcp/127.0.0.1/$DOUBLEHOLD_CONTROL_PORT" 4<>"/dev/tcp/127.0.0.1/$DOUBLEHOLD_PORT" 5<>"/dev/tcp/127.0.0.1/$DOUBLEHOLD_PORT"
ask() {
    printf '%s\r\n' "${*:2}" >&"$1"
    IFS= read -r line <&"$1" || exit 1
    line=${line%$'\r'}
}
tell() { ask 3 DOUBLEHOLD "$@"; }

eval "$FIRST"
ask 4 CLIENT SETNAME c1
ask 5 CLIENT SETNAME c2
tell ASKS c1
ask 4 SET lock c1 NX PX 2000
tell GRANTED c1 2s
sleep 0.1
tell ASKS c2
ask 5 SET lock c2 NX PX 2000
case $line in
+OK) tell GRANTED c2 2s ;;
*) tell REFUSED c2 ;;
esac
sleep 0.1
tell RELEASES c1
ask 4 DEL lock
tell RELEASED c1
