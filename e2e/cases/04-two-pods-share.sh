# Two pods of one claim share one session; each sees what the other does. The node pod that serves the claim is found by a label,
# and what happened to the claim among its events.
claim shared
pod left shared 'echo left > /data/left; until [ -e /data/right ]; do sleep 0.2; done; cat /data/right'
pod right shared 'until [ -e /data/left ]; do sleep 0.2; done; cat /data/left; echo right > /data/right; until [ -e /data/seen ]; do sleep 0.2; done'
running right
[ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = 1 ] || die "two pods of one claim do not share a session"
servers() { kubectl -n $system get pods -l "claim.posixgateway.io/$NAMESPACE.shared" -o name; }
found() { [ "$(servers)" = "pod/$(pod_of node)" ]; }
until_true 60 "label of the claim at the node pod" found
kubectl -n "$NAMESPACE" get events --field-selector involvedObject.name=shared | has ProvisioningSucceeded || die "no event of the claim tells of its volume"
pod witness shared 'touch /data/seen'
succeeds witness
succeeds left
succeeds right
logs_say right left || die "the right pod did not read what the left one wrote"
remove pod left right witness
remove pvc shared
no_sessions() { [ "$(metric keeper 9402 posix_gateway_keeper_sessions)" = 0 ]; }
until_true 60 "end of the session" no_sessions
until_true 60 "end of the label" eval '[ -z "$(servers)" ]'
