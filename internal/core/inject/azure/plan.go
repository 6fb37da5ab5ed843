package azure

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/podpatch"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// Limits of a token's life in seconds. Outside, a pod is refused.
const (
	defaultExpiration = 3600
	minExpiration     = 3600
	maxExpiration     = 86400
)

// The groups of a plan that the identity is in, in the order in which containers
// get them.
const (
	clientIDGroup = iota
	tenantIDGroup
	tokenFileGroup
	authorityHostGroup
)

var identityGroups = []int{clientIDGroup, tenantIDGroup, tokenFileGroup, authorityHostGroup}

// tokenFileVariable names the token.
const tokenFileVariable = "AZURE_FEDERATED_TOKEN_FILE"

// beforeWorkloadIdentity are variables that make the SDKs take another identity.
// Azure SDKs: DefaultAzureCredential asks EnvironmentCredential first.
var beforeWorkloadIdentity = []string{"AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_PASSWORD"}

// plan is what a pod is to have.
func (in *Injector) plan(pod inject.Pod, seconds int64, account map[string]string, custom *CustomTokenEndpoint) *podpatch.Plan {
	name := volumeName(pod)
	token := podpatch.Source{Path: tokenFile, Audience: in.settings.Audience, Seconds: seconds}
	tenant := account[tenantIDAnnotation]
	if tenant == "" {
		tenant = in.settings.TenantID
	}
	plan := &podpatch.Plan{
		Mounts: []podpatch.Mount{{Volume: name, Path: mountPath, Reserved: true, Variable: tokenFileVariable}},
		Watch:  beforeWorkloadIdentity,
		Groups: make([]podpatch.Group, 0, 8),
	}
	plan.AddVariable("AZURE_CLIENT_ID", account[clientIDAnnotation])
	plan.AddVariable("AZURE_TENANT_ID", tenant)
	plan.AddVariable(tokenFileVariable, mountPath+"/"+tokenFile)
	plan.AddVariable("AZURE_AUTHORITY_HOST", in.authorityHost)
	sources := []podpatch.Source{token}
	if custom != nil {
		sources = planCustom(plan, token, custom)
	}
	plan.Volumes = []podpatch.Volume{{Name: name, Sources: sources, Reserved: true}}
	return plan
}

// planCustom plans the variables of a custom token endpoint, and is the files that
// the volume has then.
func planCustom(plan *podpatch.Plan, token podpatch.Source, custom *CustomTokenEndpoint) []podpatch.Source {
	token.Audience = custom.Audience
	sources := []podpatch.Source{token}
	switch {
	case custom.CAConfigMap != "":
		sources = append(sources, podpatch.Source{Path: caFile, ConfigMap: custom.CAConfigMap, Key: caKey})
	case custom.CATrustBundle != "":
		sources = append(sources, podpatch.Source{Path: caFile, TrustBundle: custom.CATrustBundle})
	}
	ca := ""
	if len(sources) > 1 {
		ca = mountPath + "/" + caFile
	}
	plan.AddVariable("AZURE_KUBERNETES_TOKEN_PROXY", custom.TokenProxy)
	plan.AddVariable("AZURE_KUBERNETES_SNI_NAME", custom.SNIName)
	plan.AddVariable("AZURE_KUBERNETES_CA_FILE", ca)
	plan.AddVariable("AZURE_KUBERNETES_CA_DATA", custom.CAData)
	return sources
}

// expiration is the life of the token: the pod says it, else the ServiceAccount.
func expiration(asked annotations, account map[string]string) (int64, error) {
	text := asked.expiration.Text()
	if text == "" {
		text = account[expirationAnnotation]
	}
	if text == "" {
		return defaultExpiration, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < minExpiration || seconds > maxExpiration {
		return 0, refuse(inject.BadAnnotation, "annotation %s is %.40q, expected seconds from %d to %d", expirationAnnotation, text, minExpiration, maxExpiration)
	}
	return seconds, nil
}

func refuse(reason inject.Reason, format string, values ...any) error {
	return &inject.Refusal{Reason: reason, Message: fmt.Sprintf(format, values...)}
}

// customEndpoint is the custom token endpoint if there is one and the pod asks for
// it.
func (in *Injector) customEndpoint(asked annotations, warnings *podpatch.Warnings) *CustomTokenEndpoint {
	switch text := asked.custom.Text(); {
	case in.settings.CustomTokenEndpoint == nil:
	case text == "true":
		return in.settings.CustomTokenEndpoint
	case text != "false" && asked.custom.Kind() != raw.Absent:
		warnings.Add("annotation %s is %.40q, expected true or false; the pod gets Azure's own token endpoint", in.customAnnotation, text)
	}
	return nil
}

// advise warns of what keeps the pod from what its author expects.
func advise(asked annotations, account, clientID string, containers []podpatch.Container, warnings *podpatch.Warnings) {
	if asked.proxy.Kind() != raw.Absent {
		warnings.Add("annotation %s: there is no proxy sidecar here; only SDKs that read AZURE_FEDERATED_TOKEN_FILE get the identity", proxyAnnotation)
	}
	if asked.endpoint != "" {
		warnings.Add("annotation %.120s of the pod does not count: the webhook has no token endpoint of that name; the pod gets Azure's own", asked.endpoint)
	}
	if asked.port.Kind() != raw.Absent {
		warnings.Add("annotation %s does not count: there is no proxy sidecar here", portAnnotation)
	}
	if clientID != "" {
		if !isGUID(clientID) {
			warnings.Add("ServiceAccount %.63q: annotation %s is %.80q, no client ID of Azure", account, clientIDAnnotation, clientID)
		}
		return
	}
	for i := range containers {
		if !containers[i].Has(clientIDGroup) {
			warnings.Add("ServiceAccount %.63q has no annotation %s; container %.63q gets no AZURE_CLIENT_ID", account, clientIDAnnotation, containers[i].Name.Text())
			return
		}
	}
}

// isGUID says whether a text looks like a client ID: 32 hex digits in groups.
func isGUID(text string) bool {
	const pattern = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(text) != len(pattern) {
		return false
	}
	for i := range len(pattern) {
		if isDash := pattern[i] == '-'; isDash != (text[i] == '-') || !isDash && !strings.ContainsRune("0123456789abcdefABCDEF", rune(text[i])) {
			return false
		}
	}
	return true
}

// UseSlip is what is wrong with a value of UseLabel, empty for nothing: one that does not
// opt in, and does not say so.
func UseSlip(value string) string {
	if value == useValue || value == "false" {
		return ""
	}
	return fmt.Sprintf("label %s of the pod is %.40q, expected %q; the pod gets no Azure identity", useLabel, value, useValue)
}
