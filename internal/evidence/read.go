// Package evidence reads what core/chain judges: the cluster by a person's kubeconfig, AWS by a person's
// session, and an issuer's documents as anybody gets them. It stores nothing, and keeps no secret.
package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/chain"
	"github.com/tabard-dev/tabard/internal/core/line"
	"github.com/tabard-dev/tabard/internal/platform/together"
)

// longest is how long AWS is waited for, in all, and the cluster for what comes before that.
const longest = 30 * time.Second

// Sources are what is asked.
type Sources struct {
	// Kube is the cluster.
	Kube kubernetes.Interface
	// AWS is a person's own session.
	AWS AWS
	// Public fetches the documents of an issuer without credentials, as AWS does.
	Public Public
	// Patience is how long the cluster is waited for; zero for half a minute.
	Patience time.Duration
}

// AWS reads by a person's session. Of an error, ErrDenied says that the session may not make the call.
type AWS interface {
	// Account is that of the session.
	Account(ctx context.Context, partition string) (string, error)
	// Role is one of the session's account by its name, nil for none.
	Role(ctx context.Context, partition, name string) (*chain.Role, error)
	// Provider is an OIDC provider of the session's account, nil for none.
	Provider(ctx context.Context, arn string) (*chain.OIDCProvider, error)
	// InlineNames are the names of a role's inline policies, and Attached the ARNs of its managed ones.
	InlineNames(ctx context.Context, partition, role string) ([]string, error)
	Attached(ctx context.Context, partition, role string) ([]string, error)
	// InlinePolicy and ManagedPolicy are policies in JSON; of a managed one, the version that counts.
	InlinePolicy(ctx context.Context, partition, role, name string) (string, error)
	ManagedPolicy(ctx context.Context, partition, arn string) (string, error)
}

// ErrDenied says that AWS knows the session, and that it may not make the call.
var ErrDenied = errors.New("AWS denies it")

// Read reads all evidence about a pod or a ServiceAccount. The error is about what was asked for itself: it is not there, or nobody
// may see it, or the cluster does not answer.
func (s Sources) Read(ctx context.Context, subject chain.Subject) (chain.Evidence, error) {
	e := chain.Evidence{Subject: subject}
	s.Patience = cmp.Or(s.Patience, longest)
	account, err := s.readSubject(ctx, subject, &e)
	if err != nil {
		return e, err
	}
	var all together.Group
	var webhook admission
	if pod := chain.NewPod(e); pod != nil {
		all.Go(func() { webhook = readWebhook(ctx, s.Kube, pod) })
	}
	var published chain.Seen[chain.Published]
	signing := e.Signing.Value
	if url := chain.WantedDocuments(e); url != "" {
		all.Go(func() {
			published = publishedAt(ctx, s.Public, url)
			if chain.WantsToken(e.Signing, published) {
				asking, cancel := context.WithTimeout(ctx, s.Patience)
				defer cancel()
				if token, err := freshToken(asking, s.Kube, subject.Namespace, account); err == nil {
					signing.Token = token.KeyID
				}
			}
		})
	}
	readAWS(ctx, s.AWS, &e)
	all.Wait()
	e.NewPod, e.Hooks, e.NamespaceLabels, e.Published = webhook.pod, webhook.hooks, webhook.labels, published
	return e, ctx.Err()
}

// readSubject reads the pod, its ServiceAccount, and the issuer of the cluster. An API server that takes
// the connection and says nothing is waited for no longer than Patience says: the client has no limit of its own.
func (s Sources) readSubject(ctx context.Context, subject chain.Subject, e *chain.Evidence) (account string, err error) {
	until := time.Now().Add(s.Patience)
	asking, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	failed := func(err error, kind, name string) error {
		_, answered := errors.AsType[*apierrors.StatusError](err)
		// By the clock, as the client's rate limiter has an error of its own for a limit that is past.
		if ctx.Err() == nil && !answered && !time.Now().Before(until) {
			return fmt.Errorf("read the %s %s/%s: the cluster did not answer within %s; kubectl -n %s get %ss shows whether it answers now", kind, subject.Namespace, name, s.Patience, subject.Namespace, kind)
		}
		return missing(err, kind, subject.Namespace, name)
	}
	account = subject.Account
	if subject.Pod != "" {
		pod, err := s.Kube.CoreV1().Pods(subject.Namespace).Get(asking, subject.Pod, metav1.GetOptions{})
		if err != nil {
			return "", failed(err, "pod", subject.Pod)
		}
		e.Pod.Value = chain.Prune(pod)
		account = cmp.Or(pod.Spec.ServiceAccountName, "default")
	}
	var all together.Group
	all.Go(func() { e.Issuer, e.Signing = readIssuer(asking, s.Kube, subject.Namespace, account) })
	found, err := accountOf(asking, s.Kube, subject.Namespace, account)
	all.Wait()
	if e.Account = found; err != nil && subject.Pod == "" {
		return "", failed(err, "serviceaccount", account)
	}
	return account, nil
}

// missing is the error of what was asked for.
func missing(err error, kind, namespace, name string) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is no %s %s/%s; kubectl -n %s get %ss shows what there is", kind, namespace, name, namespace, kind)
	}
	return fmt.Errorf("read the %s %s/%s: %w", kind, namespace, name, err)
}

// accountOf reads a ServiceAccount. One that is not there is an error, and no evidence is unread then.
func accountOf(ctx context.Context, kube kubernetes.Interface, namespace, name string) (out chain.Seen[metav1.PartialObjectMetadata], err error) {
	found, err := kube.CoreV1().ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return out, err
	case err != nil:
		out.Unread, out.Needs = line.Of(err.Error()), "get serviceaccounts in the namespace "+namespace
		return out, err
	}
	out.Value = &metav1.PartialObjectMetadata{ObjectMeta: found.ObjectMeta}
	return out, nil
}

// readAWS reads the role and the provider.
func readAWS(ctx context.Context, aws AWS, e *chain.Evidence) {
	role, ok := identity.ParseRoleARN(chain.Wanted(*e))
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	own, err := aws.Account(ctx, role.Partition)
	unread, needs := "", "a session of account "+role.Account+" in AWS, such as by AWS_PROFILE"
	switch {
	case err != nil:
		unread = line.Of(err.Error())
	case own != role.Account:
		unread = "your session in AWS is of account " + own
	}
	if unread != "" {
		e.Role.Unread, e.Role.Needs, e.Provider.Unread, e.Provider.Needs = unread, needs, unread, needs
		e.Policies.Unread, e.Policies.Needs = unread, needs
		return
	}
	arn := chain.WantedProvider(*e)
	var all together.Group
	all.Go(func() {
		found, err := aws.Role(ctx, role.Partition, role.Name)
		e.Role.Value = found
		e.Role.Unread, e.Role.Needs = refusal(err, "iam:GetRole on role "+role.Name)
	})
	if arn != "" {
		all.Go(func() {
			provider, err := aws.Provider(ctx, arn)
			e.Provider.Value = provider
			e.Provider.Unread, e.Provider.Needs = refusal(err, "iam:GetOpenIDConnectProvider on "+arn)
		})
	}
	all.Go(func() { e.Policies = policiesOf(ctx, aws, role) })
	all.Wait()
	if len(e.Subject.Actions) > 0 {
		readDocuments(ctx, aws, role, e)
	}
}

// refusal is what a failed call leaves unread, and the right that is needed.
func refusal(err error, right string) (unread, needs string) {
	switch {
	case err == nil:
		return "", ""
	case errors.Is(err, ErrDenied):
		return line.Of(err.Error()), right
	}
	return line.Of(err.Error()), "an answer of AWS; try again"
}
