# Two pods of one claim share one session; each sees what the other does. The node pod that serves the claim is found by a label,
# and what happened to the claim among its events.
claim shared
pod left shared 'echo left > /data/left; until [ -e /data/right ]; do sleep 0.2; done; cat /data/right'
pod right shared 'until [ -e /data/left ]; do sleep 0.2; done; cat /data/left; echo right > /data/right; until [ -e /data/seen ]; do sleep 0.2; done'
running right
until_true 60 "one session of two pods" sessions_are 1
servers() { kubectl -n $system get pods -l "claim.posixgateway.io/$NAMESPACE.shared" -o name; }
found() { [ "$(servers)" = "pod/$(pod_of node)" ]; }
until_true 60 "label of the claim at the node pod" found
told() { kubectl -n "$NAMESPACE" get events --field-selector involvedObject.name=shared | has ProvisioningSucceeded; }
until_true 60 "an event of the claim that tells of its volume" told
pod witness shared 'touch /data/seen'
succeeds witness
succeeds left
succeeds right
logs_say right left || die "the right pod did not read what the left one wrote"
remove pod left right witness
remove pvc shared
until_true 60 "end of the session" sessions_are 0
until_true 60 "end of the label" eval '[ -z "$(servers)" ]'
