# Sourced by the scripts of this repository that build it, after root is set and say is there to tell something; POSIX sh.

# The lock of all builds of this checkout: a link whose target is the holder's process id, made and named in one step.
lock=$root/target/launcher.lock

# A file that a build is about to put in its place; taken away with the lock if it does not get so far.
unfinished=

take_lock() {
    waiting=
    mkdir -p "$root/target"
    until ln -s $$ "$lock" 2>/dev/null; do
        [ -w "$root/target" ] || { say "cannot write to $root/target"; exit 1; }
        holder=$(readlink "$lock") || continue
        if kill -0 "$holder" 2>/dev/null; then
            [ -n "$waiting" ] || say "waiting for the build of process $holder (if that is none, remove $lock)"
            waiting=yes
            sleep 1
        else
            rm -f "$lock"
        fi
    done
    trap 'rm -f "$lock" ${unfinished:+"$unfinished"}' EXIT
    trap 'exit 130' INT
    trap 'exit 143' HUP TERM
}

drop_lock() {
    trap - EXIT INT HUP TERM
    rm -f "$lock"
}
