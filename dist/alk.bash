# bash completion of alk: commands, and the options of each. A test compares it with the program.

_alk_policies() {
    echo "--queue --payload --priority --max-attempts --expires --zone --anchor --gap --fold" \
        "--not-before --not-after --catchup --catchup-max --catchup-window --grace" \
        "--max-lateness --jitter --overlap --max-fires --pause-until"
}

_alk_options() {
    case $1 in
    "enqueue") echo "--delay --at --priority --max-attempts --expires --header --unique --unique-until --unique-for --many" ;;
    "work") echo "--concurrency --timeout --drain --log-level --log-format" ;;
    "job list") echo "--queue --state --limit" ;;
    "schedule put") echo "$(_alk_policies) --allow-late" ;;
    "schedule set") echo "$(_alk_policies) --spec --reanchor" ;;
    "schedule list") echo "--bad --limit" ;;
    "schedule history") echo "--limit" ;;
    "schedule resume") echo "--catchup" ;;
    "schedule fire") echo "--respect-overlap --unique" ;;
    "schedule backfill") echo "--from --to --max --dry-run" ;;
    "schedule apply") echo "--dry-run" ;;
    "schedule import") echo "--system --zone" ;;
    "next") echo "--zone --after -n --anchor --name --gap --fold --not-before --not-after" ;;
    "explain") echo "--zone --name" ;;
    "run") echo "--config --once --check --forget-missed --log-level --log-format" ;;
    "lease run") echo "--ttl" ;;
    esac
    echo "--store --json --help"
}

_alk_words() {
    case $1 in
    "") echo "init enqueue work job schedule next explain run lease health version help" ;;
    "job") echo "list show" ;;
    "schedule") echo "put set list show history pause resume remove fire backfill apply import" ;;
    "lease") echo "list break run" ;;
    "help") _alk_words "" ;;
    *) _alk_options "$1" ;;
    esac
}

_alk() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=""
    if [ "$COMP_CWORD" -gt 1 ]; then
        command=${COMP_WORDS[1]}
        case $command in
        job | schedule | lease)
            [ "$COMP_CWORD" -le 2 ] || command="$command ${COMP_WORDS[2]}"
            ;;
        esac
    fi
    case $before in
    --state) COMPREPLY=($(compgen -W "ready delayed chained running done dead cancelled" -- "$word")) ;;
    --gap) COMPREPLY=($(compgen -W "shift skip" -- "$word")) ;;
    --fold) COMPREPLY=($(compgen -W "auto first last both" -- "$word")) ;;
    --catchup) COMPREPLY=($(compgen -W "last skip all" -- "$word")) ;;
    --overlap) COMPREPLY=($(compgen -W "allow skip buffer_one replace_pending" -- "$word")) ;;
    --log-level) COMPREPLY=($(compgen -W "debug info warning error" -- "$word")) ;;
    --log-format) COMPREPLY=($(compgen -W "logfmt json" -- "$word")) ;;
    --config | --many) COMPREPLY=($(compgen -f -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$(_alk_words "$command")" -- "$word")) ;;
    esac
}

complete -o bashdefault -F _alk alk
