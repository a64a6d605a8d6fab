# Sourced by the scripts of this repository; POSIX sh.

jdk_least=25
jdk_newest=0

# Sets jdk_home to a JDK of version $jdk_least or newer. When there is none, says so with the mend, and fails.
find_jdk() {
    if [ -n "${ESPALIER_JAVA_HOME-}" ]; then
        try_jdk "$ESPALIER_JAVA_HOME" && return
        explain_jdk "ESPALIER_JAVA_HOME=$ESPALIER_JAVA_HOME is no JDK $jdk_least or newer."
        return 1
    fi
    [ -n "${JAVA_HOME-}" ] && try_jdk "$JAVA_HOME" && return
    jdk_on_path=$(command -v java) && try_jdk "$(dirname "$(dirname "$(readlink -f "$jdk_on_path")")")" && return
    for jdk_candidate in /usr/lib/jvm/* /opt/* /opt/java/* "${HOME-}"/.sdkman/candidates/java/* "${HOME-}"/.jdks/*; do
        try_jdk "$jdk_candidate" && return
    done
    if [ -x /usr/libexec/java_home ]; then
        jdk_candidate=$(/usr/libexec/java_home -v "$jdk_least+" 2>/dev/null) && try_jdk "$jdk_candidate" && return
    fi
    if [ "$jdk_newest" -gt 0 ]; then
        explain_jdk "found no JDK $jdk_least or newer; the newest is $jdk_newest in $jdk_newest_home."
    else
        explain_jdk "found no JDK $jdk_least or newer."
    fi
    return 1
}

# Sets jdk_home to $1 if that is a JDK and new enough; else fails. What counts is what the JDK says of itself, for the
# name of a folder may lie.
try_jdk() {
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
    jdk_version=
    if [ -r "$1/release" ]; then
        while IFS='="' read -r jdk_key _ jdk_value _; do
            [ "$jdk_key" != JAVA_VERSION ] || jdk_version=$jdk_value
        done <"$1/release"
    fi
    [ -n "$jdk_version" ] || jdk_version=$("$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p')
    jdk_version=${jdk_version%%[!0-9]*}
    jdk_version=${jdk_version:-0}
    if [ "$jdk_version" -gt "$jdk_newest" ]; then
        jdk_newest=$jdk_version
        jdk_newest_home=$1
    fi
    [ "$jdk_version" -ge "$jdk_least" ] || return 1
    jdk_home=$1
}

explain_jdk() {
    cat >&2 <<END
espalier: $1
  Install one: 'sdk install java $jdk_least-tem', 'brew install openjdk@$jdk_least', your system's openjdk-$jdk_least-jdk,
  or https://adoptium.net. One that lies elsewhere is named with ESPALIER_JAVA_HOME=/path/to/jdk.
  Looked at: ESPALIER_JAVA_HOME, JAVA_HOME, java on PATH, /usr/lib/jvm, /opt, ~/.sdkman, ~/.jdks, macOS's java_home.
END
}

# Runs Maven on $jdk_home, without the warnings that its own libraries would draw there.
maven() {
    JAVA_HOME=$jdk_home \
        MAVEN_OPTS="${MAVEN_OPTS-} --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED" \
        "${ESPALIER_MAVEN:-mvn}" -B -Dstyle.color=never "$@" </dev/null
}
