# Every kubectl and helm command of README and docs does what its page says, written as it is there, with the names of this cluster.
# What would change the release or end pods is only tried here: 01-install, 08-upgrades, 25-drain and 90-uninstall do it.
needs_node
node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
pages=(README.md docs/quickstart-kubernetes.md docs/operations.md)
trap 'kubectl delete --ignore-not-found pod/reader pod/holder pvc/dataset >/dev/null' EXIT
# What the example runs, by the name under which nodes would pull it.
on_node ctr -n k8s.io images tag --force docker.io/library/e2e-pod:1 docker.io/library/debian:bookworm-slim >/dev/null
volume() {
  kubectl get --raw "/api/v1/namespaces/$system/pods/$(pod_of node):$(gateway_port)/proxy/metrics" |
    sed -n 's/^posix_gateway_volume_info{.*[{,]volume="\([^"]*\)".*/\1/p' | sort | tail -n 1
}
tried=0
for page in "${pages[@]}"; do
  while read -r command; do
    echo "== $command"
    command=${command// charts\// $E2E_ROOT/charts/}
    command=${command//NODE/$node}
    command=${command//POD/$(pod_of node)}
    command=${command//TEAM/default}
    command=${command//CLAIM/dataset}
    [[ $command != *VOLUME* ]] || command=${command//VOLUME/$(volume)}
    case $command in
    'helm install '*) command="helm template --kube-version 1.34.0 ${command#helm install }" ;;
    'helm '*) command="$command --dry-run" ;;
    'kubectl drain '*)
      NAMESPACE=default remove pod reader holder # a drain leaves pods without a controller to who made them
      command="$command --dry-run=client"
      ;;
    'kubectl uncordon '*) command="$command --dry-run=client" ;;
    'kubectl logs reader') NAMESPACE=default succeeds reader ;;
    *claim.posixgateway.io*)
      NAMESPACE=default pod holder dataset 'sleep infinity'
      until_true 60 "label of the claim" eval "$command -o name | has pod/"
      ;;
    esac
    output=$(eval "${command/ --wait/}" </dev/null) || die "this command of $page fails: $command"
    echo "${output:0:2000}"
    [ -n "$output" ] || die "this command of $page says nothing: $command"
    tried=$((tried + 1))
  done < <(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on && /^(kubectl|helm) /' "$E2E_ROOT/$page")
done
[ $tried -ge 18 ] || die "only $tried commands were found in ${pages[*]}"
