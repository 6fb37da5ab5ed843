package credentials

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tabard-dev/tabard/api/identity/v1alpha1"
	"github.com/tabard-dev/tabard/internal/cloud"
	core "github.com/tabard-dev/tabard/internal/core/credentials"
)

// State is what metrics say of a request.
type State struct {
	// State is fulfilled, waiting, deleting, or other: a request that is not Tabard's.
	State, Reason string
	// Role is present, absent or unknown; empty for a request without a role of Tabard's.
	Role string
	// Since is when a request that waits began to.
	Since time.Time
}

// grantState is what a grant says of its request.
func grantState(g *v1alpha1.CredentialsGrant) State {
	out := State{State: "waiting", Since: g.CreationTimestamp.Time}
	if ready := meta.FindStatusCondition(g.Status.Conditions, core.TypeReady); ready != nil {
		out.Reason, out.Since = ready.Reason, ready.LastTransitionTime.Time
		if ready.Status == metav1.ConditionTrue {
			out.State = "fulfilled"
		}
	}
	if blocked := meta.FindStatusCondition(g.Status.Conditions, core.TypeDeletionBlocked); blocked != nil && blocked.Status == metav1.ConditionTrue {
		out.State, out.Reason = "deleting", blocked.Reason
	}
	if g.Status.Role == nil {
		return out
	}
	out.Role = "unknown"
	if role := meta.FindStatusCondition(g.Status.Conditions, core.TypeRolePresent); role != nil {
		out.Role = map[metav1.ConditionStatus]string{metav1.ConditionTrue: "present", metav1.ConditionFalse: "absent"}[role.Status]
		if out.Role == "" {
			out.Role = "unknown"
		}
	}
	return out
}

// Metrics are the controller's own, beside those that each controller has. They are safe
// for concurrent use.
type Metrics struct {
	requests, oldest, roles, accountRoles, accountQuota *prometheus.Desc

	mu sync.Mutex
	// states are by request; others are of requests that are not Tabard's.
	states, others map[types.NamespacedName]State
	// usage is that of the account; nil while it is not known.
	usage *cloud.RoleUsage
}

// NewMetrics makes the metrics and registers them.
func NewMetrics(registry prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewDesc("tabard_credentials_requests",
			"CredentialsRequests by state: fulfilled, waiting, deleting, other (somebody else fulfils them, or nobody); and by reason, as the grant's condition Ready gives it.", []string{"state", "reason"}, nil),
		oldest: prometheus.NewDesc("tabard_credentials_oldest_waiting_seconds",
			"How long the request that has waited longest is not fulfilled; 0 if none waits.", nil, nil),
		roles: prometheus.NewDesc("tabard_credentials_roles",
			"Roles that Tabard makes for requests, by state: present, absent (not there as wanted), unknown.", []string{"state"}, nil),
		accountRoles: prometheus.NewDesc("tabard_credentials_account_roles",
			"IAM roles in the controller's AWS account, whoever made them. There is no value while AWS does not say it.", nil, nil),
		accountQuota: prometheus.NewDesc("tabard_credentials_account_roles_quota",
			"IAM roles that AWS allows the account. There is no value while AWS does not say it.", nil, nil),
		states: map[types.NamespacedName]State{}, others: map[types.NamespacedName]State{},
	}
	registry.MustRegister(m)
	return m
}

var sharedMetrics = sync.OnceValue(func() *Metrics { return NewMetrics(metrics.Registry) })

func (m *Metrics) granted(request types.NamespacedName, s State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[request] = s
}

func (m *Metrics) forget(request types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.states, request)
}

// acting takes who fulfils a request that is there.
func (m *Metrics) acting(request types.NamespacedName, by core.Acting) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if by.Actor == core.ActorTabard || by.Actor == "" {
		delete(m.others, request)
		return
	}
	m.others[request] = State{State: "other", Reason: string(by.Reason)}
}

func (m *Metrics) gone(request types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.others, request)
}

// account takes how many roles the account has and may have; nil is not known.
func (m *Metrics) account(usage *cloud.RoleUsage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage = usage
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(into chan<- *prometheus.Desc) {
	into <- m.requests
	into <- m.oldest
	into <- m.roles
	into <- m.accountRoles
	into <- m.accountQuota
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(into chan<- prometheus.Metric) {
	requests, roles := map[[2]string]float64{}, map[string]float64{"present": 0, "absent": 0, "unknown": 0}
	var oldest time.Duration
	m.mu.Lock()
	for name, s := range m.states {
		if _, isOther := m.others[name]; isOther {
			continue
		}
		requests[[2]string{s.State, s.Reason}]++
		if s.Role != "" {
			roles[s.Role]++
		}
		if s.State == "waiting" {
			oldest = max(oldest, time.Since(s.Since))
		}
	}
	for _, s := range m.others {
		requests[[2]string{s.State, s.Reason}]++
	}
	usage := m.usage
	m.mu.Unlock()
	for labels, count := range requests {
		into <- prometheus.MustNewConstMetric(m.requests, prometheus.GaugeValue, count, labels[0], labels[1])
	}
	for state, count := range roles {
		into <- prometheus.MustNewConstMetric(m.roles, prometheus.GaugeValue, count, state)
	}
	into <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, oldest.Seconds())
	if usage != nil {
		into <- prometheus.MustNewConstMetric(m.accountRoles, prometheus.GaugeValue, float64(usage.Roles))
		into <- prometheus.MustNewConstMetric(m.accountQuota, prometheus.GaugeValue, float64(usage.Quota))
	}
}
