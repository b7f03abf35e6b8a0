# Two pods of one claim share one session; each sees what the other does.
claim shared
pod left shared 'echo left > /data/left; until [ -e /data/right ]; do sleep 0.2; done; cat /data/right'
pod right shared 'until [ -e /data/left ]; do sleep 0.2; done; cat /data/left; echo right > /data/right; sleep 5'
running right
[ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = 1 ] || die "two pods of one claim do not share a session"
succeeds left
succeeds right
logs_say right left || die "the right pod did not read what the left one wrote"
remove pod left right
remove pvc shared
no_sessions() { [ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = 0 ]; }
until_true 60 "end of the session" no_sessions
