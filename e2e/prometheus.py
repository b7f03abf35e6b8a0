"""Makes the configuration of a Prometheus from the chart's PodMonitors, as the Prometheus operator would.

prometheus.py RULES MONITORS PODS

RULES is a file of alerts, MONITORS what `helm template` gives, PODS what `kubectl get pods -o json` gives: the pods are
written down as they are now, because Debian's Prometheus does not ask Kubernetes.
"""

import json
import re
import sys

import yaml

META = "__meta_kubernetes_pod_"


def targets(pods):
    """Every declared port, with the labels that the discovery of Kubernetes gives it."""
    for pod in pods:
        labels = {f"{META}label_{re.sub('[^a-zA-Z0-9_]', '_', name)}": value
                  for name, value in pod["metadata"]["labels"].items()}  # fmt: skip
        labels |= {f"{META}name": pod["metadata"]["name"], f"{META}node_name": pod["spec"]["nodeName"]}
        for container in pod["spec"]["containers"]:
            for port in container.get("ports", []):
                yield {
                    "targets": [f"{pod['status']['podIP']}:{port['containerPort']}"],
                    "labels": labels | {f"{META}container_port_name": port["name"]},
                }


def scrape(monitor, endpoint, found):
    """One endpoint of one PodMonitor."""
    wanted = {f"{META}label_{re.sub('[^a-zA-Z0-9_]', '_', name)}": value
              for name, value in monitor["spec"]["selector"]["matchLabels"].items()}  # fmt: skip
    wanted[f"{META}container_port_name"] = endpoint["port"]
    keep = [{"action": "keep", "source_labels": [label], "regex": value} for label, value in wanted.items()]
    own = [
        {"source_labels": rule["sourceLabels"], "target_label": rule["targetLabel"]} for rule in endpoint["relabelings"]
    ]
    return {
        "job_name": f"{monitor['metadata']['name']}-{endpoint['port']}",
        "honor_labels": endpoint["honorLabels"],
        "metrics_path": endpoint["path"],
        "relabel_configs": keep + own,
        "static_configs": found,
    }


rules, monitors, pods = sys.argv[1:]
with open(monitors, encoding="utf-8") as file:
    monitors = [one for one in yaml.safe_load_all(file) if one]
with open(pods, encoding="utf-8") as file:
    found = list(targets(json.load(file)["items"]))
jobs = [scrape(monitor, endpoint, found) for monitor in monitors for endpoint in monitor["spec"]["podMetricsEndpoints"]]
if not jobs or not found:
    sys.exit(f"prometheus.py: {len(jobs)} endpoints of PodMonitors, {len(found)} ports of pods")
every = {"scrape_interval": "3s", "evaluation_interval": "3s"}
print(json.dumps({"global": every, "rule_files": [rules], "scrape_configs": jobs}))
