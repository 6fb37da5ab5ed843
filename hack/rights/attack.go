package main

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// attacks is the catalogue of steps, for an account with these rights.
func (w *world) attacks(from account, grants []grant) []attack {
	var found []attack
	for _, namespace := range w.places(grants) {
		found = append(found, w.secretAttacks(from, grants, namespace)...)
		found = append(found, w.podAttacks(grants, namespace)...)
		found = append(found, w.steeringAttacks(namespace)...)
		found = append(found, w.tokenAttacks(grants, namespace)...)
		found = append(found, machineAttacks(grants, namespace)...)
		found = append(found, clusterAttacks(grants, namespace)...)
		found = append(found, planAttacks(grants, namespace)...)
		found = append(found, w.powerAttacks(from, grants, namespace)...)
	}
	found = append(found, hookAttacks(w, grants)...)
	return append(found, w.answering(from)...)
}

// places are the namespaces to attack in: those of the manifests, Kubernetes' own, and
// one that nobody has named.
func (w *world) places(grants []grant) []string {
	found := []string{"", "default", "kube-system", "somebody-elses"}
	for namespace := range w.namespaces {
		found = append(found, namespace)
	}
	for _, g := range grants {
		found = append(found, g.namespace)
	}
	sort.Strings(found)
	return slices.Compact(found)
}

// inhabitants are the accounts of a namespace by what they are called, and as who a
// pod there would run.
func (w *world) inhabitants(namespace string) map[string]string {
	found := map[string]string{}
	for _, a := range w.accounts {
		if a.namespace == namespace {
			found[a.String()] = a.name
		}
	}
	if len(found) == 0 {
		found["the accounts of "+namespace] = "default"
	}
	return found
}

// secretAttacks make Secrets that hold tokens, and read those that do.
func (w *world) secretAttacks(from account, grants []grant, namespace string) []attack {
	if namespace == "" {
		return nil
	}
	var found []attack
	names := append(namesOf(grants, "", "secrets", namespace), "attack")
	for to, name := range w.inhabitants(namespace) {
		if to == from.String() {
			to += ", for ever"
		}
		for _, secret := range names {
			token := on("create", "", "v1", "secrets", "Secret", namespace, secret, map[string]any{"type": "kubernetes.io/service-account-token",
				"metadata": map[string]any{"annotations": map[string]any{"kubernetes.io/service-account.name": name}}})
			found = append(found, attack{to, "a Secret that Kubernetes fills with a token", []request{token}})
		}
		for _, verb := range reading {
			read := request{verb: verb, version: "v1", resource: "secrets", namespace: namespace}
			found = append(found, attack{to, "a token in a Secret that is there", []request{read}})
		}
	}
	found = append(found, w.shownAttacks(from, names, namespace)...)
	for _, secret := range names[:len(names)-1] {
		for _, verb := range reading { // a list of one name is one with a field selector
			read := request{verb: verb, version: "v1", resource: "secrets", namespace: namespace, name: secret}
			found = append(found, attack{secretOf(namespace + "/" + secret), "it reads it", []request{read}})
		}
	}
	for _, secret := range names {
		plain := on("create", "", "v1", "secrets", "Secret", namespace, secret, map[string]any{"type": "kubernetes.io/tls", "data": map[string]any{}})
		for _, verb := range []string{"update", "patch"} {
			owned := plain.variant(verb, marks["an owner, with which it is deleted"])
			found = append(found, attack{"a Secret of any type named " + secret + " in " + namespace, "its Secret is deleted with an owner, and made anew", []request{owned, plain}})
		}
		for _, gone := range plain.removals() {
			found = append(found, attack{"a Secret of any type named " + secret + " in " + namespace, "its Secret is deleted, and made anew", []request{gone, plain}})
		}
	}
	return found
}

// shownAttacks write Secrets, and are shown in the answer what was in them: by a patch that changes
// nothing, and by the deletion of all.
func (w *world) shownAttacks(from account, names []string, namespace string) []attack {
	var found []attack
	for _, kind := range []string{"Opaque", "kubernetes.io/tls", "kubernetes.io/service-account-token"} {
		for i, name := range names {
			there := on("create", "", "v1", "secrets", "Secret", namespace, name, map[string]any{"type": kind, "data": map[string]any{"key": "x"}})
			shown := []request{there.variant("patch", func(map[string]any) {})}
			to := []string{secretOf(namespace + "/" + name)}
			if i == len(names)-1 { // it is any
				shown = append(shown, there.removals()[1])
				to = slices.Sorted(maps.Keys(w.inhabitants(namespace)))
			}
			for _, each := range to {
				if each == from.String() {
					each += ", for ever"
				}
				for _, r := range shown {
					found = append(found, attack{each, "what is in a Secret that is there stands in the answer", []request{r}})
				}
			}
		}
	}
	return found
}

// workloads make pods.
var workloadKinds = []struct{ group, version, resource, kind string }{
	{"apps", "v1", "deployments", "Deployment"}, {"apps", "v1", "daemonsets", "DaemonSet"}, {"apps", "v1", "statefulsets", "StatefulSet"},
	{"apps", "v1", "replicasets", "ReplicaSet"}, {"batch", "v1", "jobs", "Job"}, {"batch", "v1", "cronjobs", "CronJob"}, {"", "v1", "replicationcontrollers", "ReplicationController"},
}

// podWays are the ways into a pod that is there.
var podWays = []struct {
	sub, how string
	verbs    []string
}{
	{"", "another image in its pod", []string{"update", "patch"}},
	{"ephemeralcontainers", "one more container in its pod", []string{"update", "patch"}},
	{"exec", "a way into its pod", into}, {"attach", "a way into its pod", into}, {"portforward", "a way into its pod", into}, {"proxy", "a way into its pod", into},
}

// podAttacks make pods, change them or go into them: a pod of a namespace may be of any
// account there and mount any Secret there.
func (w *world) podAttacks(grants []grant, namespace string) []attack {
	if namespace == "" {
		return nil
	}
	var found []attack
	for to, name := range w.inhabitants(namespace) {
		spec := map[string]any{"serviceAccountName": name, "containers": []any{map[string]any{"name": "attack", "image": "attack"}}}
		pod := on("create", "", "v1", "pods", "Pod", namespace, "attack", map[string]any{"spec": spec})
		found = append(found, attack{to, "a pod of that account", []request{pod}})
		for _, of := range podWays {
			for _, name := range append(namesOf(grants, "", withSub("pods", of.sub), namespace), "attack") {
				for _, verb := range of.verbs {
					r := request{verb: verb, version: "v1", resource: "pods", sub: of.sub, kind: "Pod", namespace: namespace, name: name}
					if r.operation() == "UPDATE" {
						r.object, r.old = pod.object, pod.object
					}
					found = append(found, attack{to, of.how, []request{r}})
				}
			}
		}
		found = append(found, workloadAttacks(grants, namespace, to, spec)...)
	}
	return found
}

// workloadAttacks make a pod by what makes pods, of the names that an account has rights
// to and of another.
func workloadAttacks(grants []grant, namespace, to string, spec map[string]any) []attack {
	var found []attack
	for _, of := range workloadKinds {
		for _, name := range append(namesOf(grants, of.group, of.resource, namespace), "attack") {
			made := on("create", of.group, of.version, of.resource, of.kind, namespace, name,
				map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}})
			found = append(found, attack{to, "a pod by a " + of.kind, []request{made}})
			for _, verb := range []string{"update", "patch"} {
				found = append(found, attack{to, "a pod by a " + of.kind, []request{made.variant(verb, func(map[string]any) {})}})
			}
		}
	}
	return found
}

// tokenAttacks ask for a token of an account, or speak in its name.
func (w *world) tokenAttacks(grants []grant, namespace string) []attack {
	if namespace == "" {
		return nil
	}
	var found []attack
	of := w.inhabitants(namespace)
	known := slices.Collect(maps.Values(of))
	for _, resource := range []string{"serviceaccounts", "serviceaccounts/token"} {
		for _, name := range namesOf(grants, "", resource, namespace) {
			if !slices.Contains(known, name) {
				of[account{namespace, name}.String()] = name
			}
		}
	}
	for to, name := range of {
		ask := request{verb: "create", version: "v1", resource: "serviceaccounts", sub: "token", kind: "TokenRequest", namespace: namespace, name: name}
		be := request{verb: "impersonate", version: "v1", resource: "serviceaccounts", namespace: namespace, name: name}
		found = append(found, attack{to, "a token that it asks for", []request{ask}}, attack{to, "a name that it speaks in", []request{be}})
	}
	return found
}

// steeringAttacks write what another process of the manifests is told.
func (w *world) steeringAttacks(namespace string) []attack {
	var found []attack
	for _, each := range w.workloads {
		if each.account.namespace != namespace || namespace == "" {
			continue
		}
		for resource, names := range map[string][]string{"configmaps": each.configMaps, "secrets": each.secrets} {
			for _, name := range names {
				for _, verb := range writing {
					told := on(verb, "", "v1", resource, map[string]string{"configmaps": "ConfigMap", "secrets": "Secret"}[resource], namespace, name, map[string]any{"data": map[string]any{}})
					found = append(found, attack{each.account.String(), "what its process is told by", []request{told}})
				}
			}
		}
	}
	return found
}

// objectAttacks make an object as base does, remove it, and change it or its status in each way.
func objectAttacks(grants []grant, base request, to, what string, changes map[string]func(map[string]any)) []attack {
	var found []attack
	for _, sub := range []string{"", "status"} {
		if !writes(grants, base.group, withSub(base.resource, sub), base.namespace) {
			continue
		}
		base.sub = sub
		found = append(found, attack{to, what + " of its own", []request{base}})
		for _, gone := range base.removals() {
			found = append(found, attack{to, what + " that it removes", []request{gone}})
		}
		for how, change := range changes {
			for _, verb := range []string{"update", "patch"} {
				found = append(found, attack{to, how, []request{base.variant(verb, change)}})
			}
		}
	}
	return found
}

// machineAttacks make nodes, on which pods of all accounts run. Every change of an
// object of these groups counts that a policy does not refuse.
func machineAttacks(grants []grant, namespace string) []attack {
	var found []attack
	for _, g := range grants {
		for _, group := range []string{"cluster.x-k8s.io", "machine.openshift.io", "infrastructure.cluster.x-k8s.io", "controlplane.cluster.x-k8s.io", "bootstrap.cluster.x-k8s.io"} {
			for _, resource := range g.Resources {
				if !writes(grants, group, resource, namespace) {
					continue // most of the catalogue otherwise, for nothing
				}
				base := on("create", group, "v1beta1", resource, "Machines", namespace, "attack",
					map[string]any{"metadata": map[string]any{"annotations": map[string]any{"note": "x"}}, "spec": map[string]any{"replicas": int64(1)}, "status": map[string]any{}})
				found = append(found, attack{everybody, "a node of its own", []request{base}})
				changes := map[string]func(map[string]any){
					"another spec":  func(o map[string]any) { o["spec"] = map[string]any{"replicas": int64(99)} },
					"another field": func(o map[string]any) { o["attack"] = "x" },
					"a field less":  func(o map[string]any) { delete(o, "spec") },
				}
				for how, change := range marks {
					changes[how] = change
				}
				for how, change := range changes {
					for _, verb := range []string{"update", "patch"} {
						found = append(found, attack{everybody, "a node of its own, by " + how, []request{base.variant(verb, change)}})
					}
				}
			}
		}
	}
	return found
}

// answering are the pods and objects that an account is asked about as a webhook.
func (w *world) answering(from account) []attack {
	var found []attack
	for _, config := range w.mutating {
		for _, hook := range config.Webhooks {
			if !w.answers(from, hook.ClientConfig) {
				continue
			}
			about := w.asked(hook.NamespaceSelector)
			if len(hook.Rules) > 0 && !slices.ContainsFunc(hook.Rules, seesMoreThanKlusterlets) {
				about = []string{agents}
			}
			for _, to := range about {
				found = append(found, attack{to: to, how: fmt.Sprintf("it answers the hook %s of %s, and may make anything of what is created there", hook.Name, config.Name)})
			}
		}
	}
	for _, config := range w.validating {
		for _, hook := range config.Webhooks {
			if w.answers(from, hook.ClientConfig) && slices.ContainsFunc(hook.Rules, seesSecrets) {
				found = append(found, attack{to: everybody, how: fmt.Sprintf("it answers the hook %s of %s, and is shown Secrets", hook.Name, config.Name)})
			}
		}
	}
	return found
}

// seesMoreThanKlusterlets says that a rule is not only about Klusterlets, which are in no
// namespace and say which agents Open Cluster Management's operator runs.
func seesMoreThanKlusterlets(rule admissionv1.RuleWithOperations) bool {
	return rule.Scope == nil || *rule.Scope != admissionv1.ClusterScope ||
		!slices.Equal(rule.APIGroups, []string{"operator.open-cluster-management.io"}) || !slices.Equal(rule.Resources, []string{"klusterlets"})
}

func seesSecrets(rule admissionv1.RuleWithOperations) bool {
	return (slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.APIGroups, "")) &&
		(slices.Contains(rule.Resources, "*") || slices.Contains(rule.Resources, "*/*") || slices.Contains(rule.Resources, "secrets"))
}
