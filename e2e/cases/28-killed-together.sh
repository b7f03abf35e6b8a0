# Keeper and gateway are killed in the same instant under load, again and again: mounts end and no call waits for good, the pods of
# before can be deleted, a new pod has the volume and what was written.
needs_node
claim together
pod planter together 'echo kept > /data/kept; sync /data/kept'
succeeds planter
# process COMPONENT NAME: number, on the node, of process 1 of a container. The container ends with it.
process() { on_node ctr -n k8s.io task ls | awk -v id="$(container "$1" "$2")" '$1 == id { print $2 }'; }
for nth in $(seq "${PGW_E2E_KILLS:-2}"); do
  pod reader together "$(load reader)"
  pod writer together "$(load writer)"
  running reader writer
  until_true 120 "first rounds" logs_say reader working
  until_true 120 "first rounds" logs_say writer working
  keeper=$(container keeper keeper)
  killed=("$(process keeper keeper)" "$(process node gateway)")
  standby=$(process node standby)
  [ -z "$standby" ] || killed+=("$standby")
  on_node kill -9 "${killed[@]}"
  none_stuck
  until_true 240 "next keeper" replaced keeper keeper "$keeper"
  rolled_out
  began=$SECONDS
  pod "after$nth" together "grep kept /data/kept; echo new > /data/new-$nth; sync /data/new-$nth"
  succeeds "after$nth"
  figure "a new pod had the volume and ended $((SECONDS - began)) s after keeper and gateway were back"
  remove pod reader writer "after$nth"
done
remove pod planter
remove pvc together
no_leak
