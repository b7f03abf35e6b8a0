# Every manifest of the chart's examples is taken by the API server, the one for Kubeflow with Kubeflow's own definition.
examples=$E2E_ROOT/charts/posix-gateway/examples
operator=github.com/kubeflow/training-operator@v1.8.1
folder=$(cd "$E2E_ROOT/csi" && go mod download -json $operator | jq -r .Dir)
kubectl apply --server-side -f "$folder/manifests/base/crds/kubeflow.org_pytorchjobs.yaml" >/dev/null
trap 'kubectl delete crd pytorchjobs.kubeflow.org --wait=false >/dev/null' EXIT
known() { kubectl api-resources --api-group=kubeflow.org | has PyTorchJob; }
until_true 60 "kind PyTorchJob" known
while read -r file; do
  kubectl -n "$NAMESPACE" apply --dry-run=server --validate=strict -f "$file" || die "$file is refused"
done < <(find "$examples" -name '*.yaml')
