package bundle

import (
	"maps"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

func sortedKeys[V any](all map[string]V) []string { return slices.Sorted(maps.Keys(all)) }

// clouds are those of both packages.
var clouds = map[permission.Cloud]catalogue.Cloud{
	permission.AWS: catalogue.AWS, permission.Azure: catalogue.Azure, permission.GCP: catalogue.GCP,
}

// tokens compares the clouds whose tokens are said to be supported with those that are asked.
func (l *linter) tokens(features catalogue.Features, set permission.Set) {
	requests, known := set.Requests()
	asked := map[permission.Cloud]string{}
	for _, r := range requests {
		if _, ok := asked[r.Cloud()]; !ok {
			asked[r.Cloud()] = r.Name
		}
	}
	anyYes, claimed := false, false
	for _, cloud := range slices.Sorted(maps.Keys(clouds)) {
		key := featureOfTokens + string(cloud)
		name, isAsked := asked[cloud]
		support := features.Tokens[clouds[cloud]]
		anyYes = anyYes || support == catalogue.Yes
		claimed = claimed || support == catalogue.Claimed
		switch {
		case support == catalogue.Yes && !known:
			l.find(CodeUndeclared, Warning, annotationPath, `%s is "true", and no annotation or file that can be read declares what the operator asks the cloud for: administrators cannot see it before they install. Write CredentialsRequests, and %s`, key, declareWith)
		case support == catalogue.Yes && !isAsked && !set.AsksNothing() && !set.Incomplete:
			l.find(CodeUndeclared, Warning, annotationPath, `%s is "true", and no request that is declared is to %s: declare one, and %s; or set the annotation to "false"`, key, cloud, declareWith)
		case support != catalogue.Yes && isAsked:
			l.find(CodeNotStated, Warning, annotationsPath, `the request %s is to %s, and %s is not "true": consoles do not ask for the role. Add the annotation %s: "true"`, catalogue.Quoted(name), cloud, key, key)
		}
	}
	if claimed {
		l.find(CodeClaimed, Warning, annotationsPath, `%s claims support of tokens, and no annotation %sCLOUD says of which cloud: it does not count. Add %saws, %sazure or %sgcp with the value "true"`,
			catalogue.InfrastructureFeatures, featureOfTokens, featureOfTokens, featureOfTokens, featureOfTokens)
	}
	if missing := l.csv.missingVerbs(l.bundle.Manifests); anyYes && len(missing) > 0 {
		l.find(CodeRights, Warning, "spec.install.spec", `tokens are supported, and no rule lets a ServiceAccount of the Deployments (%s) %s CredentialsRequests. Add to permissions or clusterPermissions: apiGroups [%s], resources [credentialsrequests], verbs [get, create, update]`,
			catalogue.Quoted(strings.Join(l.csv.accounts(), ", ")), strings.Join(missing, " and "), group)
	}
}

// accounts finds ServiceAccounts that become a role and that no Deployment runs as.
func (l *linter) accounts(set permission.Set) {
	own := l.csv.accounts()
	requests, _ := set.Requests()
	for _, r := range requests {
		for _, account := range r.ServiceAccounts {
			if !slices.Contains(own, account.Name) {
				l.find(CodeServiceAccount, Warning, "spec.install.spec.deployments", "the request %s names the ServiceAccount %s, and the Deployments run as %s: if no other pod runs as it, name that of the Deployment",
					catalogue.Quoted(r.Name), catalogue.Quoted(account.Name), catalogue.Quoted(strings.Join(own, ", ")))
			}
		}
	}
}
