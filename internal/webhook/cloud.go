package webhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/azure"
	"github.com/tabard-dev/tabard/internal/core/inject/gcp"
)

// The names of the clouds.
const (
	cloudAWS    = "aws"
	cloudAzure  = "azure"
	cloudGoogle = "gcp"
)

var allClouds = []string{cloudAWS, cloudAzure, cloudGoogle}

// checkClouds accepts some of the clouds, or all.
func checkClouds(names []string) error {
	for _, name := range names {
		if !slices.Contains(allClouds, name) {
			return fmt.Errorf("it has %.40q, expected some of %s, with commas between them", name, strings.Join(allClouds, ", "))
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("it is empty, expected some of %s, with commas between them", strings.Join(allClouds, ", "))
	}
	return nil
}

// injector decides about pods' identities at one cloud.
type injector interface {
	// AccountName is the ServiceAccount that has to be known to decide, empty for
	// none.
	AccountName(pod inject.Pod) string
	// Inject decides. A *inject.Refusal refuses the pod; another error says what
	// of it is not as the API has it.
	Inject(pod inject.Pod, subject inject.Subject) (inject.Result, error)
}

// knowledge is what an injector decides by.
type knowledge interface {
	// synced says that all of it has been read once.
	synced() bool
	// subject is all that is said of the ServiceAccount of a pod, which has no
	// name where none has to be known. The error says that it cannot be known how
	// that is in this moment.
	subject(ctx context.Context, account types.NamespacedName, pod inject.Pod) (inject.Subject, error)
}

// cloud is one that is on.
type cloud struct {
	injector
	name string
	// optIn is the annotation by which a ServiceAccount names its identity.
	optIn string
}

// newClouds are those that the options name. The error says which option is
// wrong.
func newClouds(o Options) ([]cloud, error) {
	var found []cloud
	var problems error
	add := func(name, optIn string, made injector, err error) {
		found, problems = append(found, cloud{made, name, optIn}), errors.Join(problems, err)
	}
	if slices.Contains(o.Clouds, cloudAWS) {
		made, err := inject.New(o.Settings)
		add(cloudAWS, o.Settings.AnnotationPrefix+"/role-arn", made, err)
	}
	if slices.Contains(o.Clouds, cloudAzure) {
		made, err := azure.New(o.Azure)
		add(cloudAzure, azure.AnnotationPrefix+"/client-id", made, err)
	}
	if slices.Contains(o.Clouds, cloudGoogle) {
		made, err := gcp.New(o.Google)
		add(cloudGoogle, o.Google.AnnotationPrefix+"/workload-identity-provider", made, err)
	}
	return found, problems
}

// interestOf is what has to be known of ServiceAccounts.
func interestOf(on []cloud) interest {
	wanted := newInterest(optIns(on)...)
	for _, each := range on {
		if roles, ok := each.injector.(*inject.Injector); ok {
			wanted = wanted.warnedOf(roles.Misspelt())
		}
	}
	return wanted
}

// optIns are the annotations by which ServiceAccounts name identities.
func optIns(on []cloud) (names []string) {
	for _, each := range on {
		names = append(names, each.optIn)
	}
	return names
}

// accountKnowledge is for a cloud where ServiceAccounts alone say who gets an
// identity.
type accountKnowledge struct {
	accounts
	optIn string
}

func (k accountKnowledge) subject(ctx context.Context, account types.NamespacedName, _ inject.Pod) (inject.Subject, error) {
	found := inject.Subject{Namespace: account.Namespace}
	if account.Name == "" {
		return found, nil
	}
	var err error
	found.Account, _, err = k.find(ctx, account, k.optIn)
	return found, err
}

// roleKnowledge is for AWS, where the configuration has a say, too.
type roleKnowledge struct {
	accountKnowledge
	config   *configuration
	injector *inject.Injector
	log      logr.Logger
}

func (k roleKnowledge) synced() bool { return k.accounts.synced() && k.config.looked() }

// subject takes the mapping before the labels that it asks for, so that none is
// missing. Where the ServiceAccount is so new that it was looked at live, its
// roles in the configuration may be as new, and are looked at, too. If something
// cannot be known in this moment, what was heard of last counts where it gives an
// identity.
func (k roleKnowledge) subject(ctx context.Context, account types.NamespacedName, pod inject.Pod) (inject.Subject, error) {
	found := inject.Subject{Namespace: account.Namespace}
	k.config.fill(&found)
	// A pod without one has none: the API server fills in "default" before,
	// unless that admission is switched off.
	if account.Name == "" {
		return found, nil
	}
	err := k.look(ctx, account, pod, &found)
	if err != nil && found.Account != nil && k.injector.Grants(pod, found) {
		k.log.Error(err, "lookup failed; what was heard of last counts", "cloud", cloudAWS, "namespace", account.Namespace, "serviceAccount", account.Name)
		return found, nil
	}
	return found, err
}

// look fills in what is said of the ServiceAccount and its namespace.
func (k roleKnowledge) look(ctx context.Context, account types.NamespacedName, pod inject.Pod, found *inject.Subject) error {
	known, live, err := k.find(ctx, account, k.optIn)
	found.Account = known
	if live && err == nil {
		err = k.renew(ctx, pod, found)
	}
	if len(found.Mapping.NamespaceLabels()) == 0 || k.injector.Named(pod, *found) {
		return err
	}
	labelled, _, unread := k.config.namespaces.find(ctx, types.NamespacedName{Name: account.Namespace}, "")
	if labelled != nil {
		found.NamespaceLabels = labelled.Labels
	}
	return errors.Join(err, unread)
}

// renew looks at the configuration in this moment: at the file always, and at
// the config map if nothing goes before it.
func (k roleKnowledge) renew(ctx context.Context, pod inject.Pod, found *inject.Subject) error {
	err := k.config.identities.renew(ctx, k.config.timeout)
	k.config.fill(found)
	if err != nil || k.injector.Named(pod, *found) {
		return err
	}
	err = k.config.mapping.renew(ctx, k.config.timeout)
	k.config.fill(found)
	return err
}
