package lab

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/tabard-dev/tabard/internal/lab/private"
)

// AuditLog is the file in which the API server notes each request of people and of
// ServiceAccounts outside kube-system, one JSON object (audit.k8s.io/v1 Event) a line, without
// the content of any object: two files of 50 MB at most.
func (lab Lab) AuditLog() string { return lab.Path("logs", "audit.log") }

// auditPolicy leaves out Kubernetes' own programs, which ask all day.
func auditPolicy() object {
	return object{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
		"omitStages": []any{"RequestReceived"},
		"rules": []any{
			object{"level": "None", "users": []any{
				"system:apiserver", "system:kube-controller-manager", "system:kube-scheduler", "system:kube-proxy",
			}},
			object{"level": "None", "userGroups": []any{"system:nodes", "system:serviceaccounts:kube-system"}},
			object{"level": "None", "nonResourceURLs": []any{"/healthz*", "/livez*", "/readyz*", "/version"}},
			object{"level": "Metadata"},
		},
	}
}

func (lab Lab) auditArguments() []string {
	return []string{
		"--audit-policy-file=" + lab.auditPolicyFile(), "--audit-log-path=" + lab.AuditLog(),
		"--audit-log-maxsize=50", "--audit-log-maxbackup=1",
	}
}

func (lab Lab) auditPolicyFile() string { return lab.pki("audit-policy.yaml") }

func (lab Lab) writeAuditPolicy() error {
	text, err := yaml.Marshal(auditPolicy())
	if err != nil {
		return fmt.Errorf("write the API server's audit policy: %w", err)
	}
	return private.Write(lab.auditPolicyFile(), text)
}
