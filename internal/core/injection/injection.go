// Package injection finds the pods that run without the AWS identity which they were
// to get when they were created: the webhook did not answer, and the hook's failure
// policy let them pass. Who is to have an identity is not decided here: core/inject
// is asked what it would do with the pod now. Only annotations count: what the
// webhook's config map and its identities file say is not known here.
package injection

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/tabard-dev/tabard/internal/core/inject"
	"github.com/tabard-dev/tabard/internal/core/inject/raw"
)

// Settings are those of the webhook that decide who is injected.
type Settings struct {
	// AnnotationPrefix is the part before the slash of every annotation.
	AnnotationPrefix string
	// TokenMountPath is where containers find their token; empty for the default.
	TokenMountPath string
	// AnyRole counts also what is no ARN of an IAM role: the webhook composes ARNs,
	// or takes any.
	AnyRole bool
}

// Defaults are the webhook's.
func Defaults() Settings {
	return Settings{AnnotationPrefix: inject.Defaults().AnnotationPrefix, TokenMountPath: inject.Defaults().MountPath}
}

// Examiner examines pods. It is safe for concurrent use.
type Examiner struct {
	injector *inject.Injector
	// tokenFiles are where containers find their token.
	tokenFiles []string
	// owned are the fields of whoever wrote the annotation for a role.
	owned *metav1.FieldsV1
}

// New checks the settings.
func New(settings Settings) (*Examiner, error) {
	all := inject.Defaults()
	all.AnnotationPrefix, all.AnyRoleARN = settings.AnnotationPrefix, settings.AnyRole
	all.MountPath = cmp.Or(settings.TokenMountPath, all.MountPath)
	injector, err := inject.New(all)
	if err != nil {
		return nil, err
	}
	return &Examiner{
		injector: injector, tokenFiles: injector.TokenFiles(),
		owned: metav1.NewFieldsV1(fmt.Sprintf(`{"f:metadata":{"f:annotations":{"f:%s":{}}}}`, injector.RoleAnnotation())),
	}, nil
}

// Cause is why a pod is without its identity.
type Cause string

// The causes.
const (
	// LetThrough: it was created when the identity had been asked for already.
	LetThrough Cause = "LetThrough"
	// TooEarly: the ServiceAccount was annotated after the pod had been created.
	TooEarly Cause = "TooEarly"
	// Skipped: it asks to be left out, which does not count in its namespace.
	Skipped Cause = "Skipped"
	// Hidden: something of its own is in the place of the token, or nothing is.
	Hidden Cause = "Hidden"
	// Unclear: it is one of the first two, and nobody has noted when the ServiceAccount
	// was annotated.
	Unclear Cause = "Unclear"
)

// lag is how late it may be seen that a ServiceAccount was annotated, by a clock that
// is not the API server's.
const lag = 5 * time.Second

// Finding is one pod without its identity.
type Finding struct {
	Pod types.NamespacedName
	UID types.UID
	// Account is the pod's ServiceAccount, and Annotation is what asks for the
	// identity: the ServiceAccount's, or the pod's own if it has OwnAnnotation.
	Account, Annotation string
	OwnAnnotation       bool
	// Containers are those that lack it.
	Containers []string
	Cause      Cause
	// Owner is what makes the pod anew: KIND/NAME as kubectl has it, empty for
	// nothing. Restartable says that kubectl rollout restart does it.
	Owner       string
	Restartable bool
}

// Examine says whether a pod is without its identity: nil if it is not. The account
// is the pod's ServiceAccount, as TrimAccount leaves it, nil if there is none; seen is
// when it was seen to be annotated, zero if that was before anybody looked. Whether a
// hook asks about the pod is not looked at.
func (e *Examiner) Examine(pod *Pod, account *metav1.PartialObjectMetadata, seen time.Time) (*Finding, error) {
	annotation, own := e.asks(pod, account)
	if annotation == "" || len(pod.Text) == 0 {
		return nil, nil
	}
	lack, err := e.lack(pod.Text, subjectOf(pod, account))
	if err != nil || len(lack.Identity)+len(lack.Token) == 0 {
		return nil, err
	}
	found := &Finding{
		Pod: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, UID: pod.UID,
		Account: pod.Account, Annotation: annotation, OwnAnnotation: own,
		Containers: lack.Identity, Cause: LetThrough, Owner: pod.owner, Restartable: pod.restartable,
	}
	switch _, skipped := pod.Labels[SkipLabel]; {
	case len(lack.Identity) == 0:
		found.Containers, found.Cause = lack.Token, Hidden
	case skipped:
		found.Cause = Skipped
	case !own:
		found.Cause = causeOf(pod.CreationTimestamp.Time, annotatedAt(account), seen)
	}
	return found, nil
}

// lack is what the containers of a pod lack, as Trim has written it down.
func (e *Examiner) lack(text []byte, subject inject.Subject) (inject.Lack, error) {
	read, err := parse(text)
	if err != nil {
		return inject.Lack{}, err
	}
	return e.injector.Missing(read, subject)
}

// parse reads a pod as Trim has written it down.
func parse(text []byte) (inject.Pod, error) {
	object, err := raw.Parse(text)
	if err != nil {
		return inject.Pod{}, err
	}
	return inject.Read(object)
}

// asks is the annotation that asks for an identity, empty for none, and whether it
// is the pod's own. Most pods have none: they cost no more than this.
func (e *Examiner) asks(pod *Pod, account *metav1.PartialObjectMetadata) (annotation string, own bool) {
	switch {
	case account != nil && e.Annotated(account):
		return e.injector.RoleAnnotation(), false
	case pod.profiles:
		return e.injector.ProfilesAnnotation(), true
	}
	return "", false
}

func subjectOf(pod *Pod, account *metav1.PartialObjectMetadata) inject.Subject {
	subject := inject.Subject{Namespace: pod.Namespace}
	if account != nil {
		subject.Account = &inject.ServiceAccount{Annotations: account.Annotations}
	}
	return subject
}

// causeOf compares when a pod was created with when its ServiceAccount was annotated:
// by the API server's notes, else by when that was seen.
func causeOf(created, annotated, seen time.Time) Cause {
	switch {
	case !annotated.IsZero() && created.Before(annotated), !seen.IsZero() && created.Before(seen.Add(-lag)):
		return TooEarly
	case !annotated.IsZero(), !seen.IsZero() && created.After(seen):
		return LetThrough
	}
	return Unclear
}

// Annotated says whether a ServiceAccount names a role.
func (e *Examiner) Annotated(account *metav1.PartialObjectMetadata) bool {
	return account.Annotations[e.injector.RoleAnnotation()] != ""
}

// annotatedAt is the time that TrimAccount has left, zero if it is not known.
func annotatedAt(account *metav1.PartialObjectMetadata) time.Time {
	if len(account.ManagedFields) == 0 || account.ManagedFields[0].Time == nil {
		return time.Time{}
	}
	return account.ManagedFields[0].Time.Time
}
