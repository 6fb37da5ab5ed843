package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/tabard-dev/tabard/internal/lab"
)

// webhookName is the name of the webhook's configuration in a lab.
const webhookName = "tabard-webhook"

// prepared says what of docs/quickstart.md is to be done before.
func (s *shop) prepared(ctx context.Context) error {
	_, err := s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, webhookName, metav1.GetOptions{})
	if _, kept := os.Stat(s.kept()); apierrors.IsNotFound(err) && kept != nil {
		return errors.New("the lab has no webhook: type the steps 2 to 5 of docs/quickstart.md, then this again")
	} else if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if _, err := s.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(s.provider)}); isAbsent(err) {
		if _, kept := os.Stat(s.keptProvider()); kept != nil {
			return errors.New("the lab's issuer has no OIDC provider: type the steps 3 and 4 of docs/quickstart.md, then this again")
		}
	} else if err != nil {
		return err
	}
	if err := s.get(ctx, "/"+s.Lab.Bucket+"/.well-known/openid-configuration"); err != nil {
		return fmt.Errorf("the lab's issuer is not published: type the steps 2 to 5 of docs/quickstart.md, then this again (%w)", err)
	}
	return nil
}

// putBack puts back what scenarios change beside their own workload.
func (s *shop) putBack(ctx context.Context) error {
	return errors.Join(s.webhookBack(ctx), s.keysBack(ctx), s.providerBack(ctx), s.tokensAge(ctx, "0s"))
}

// keptProvider is the file that has the lab's OIDC provider while it is another one.
func (s *shop) keptProvider() string { return s.Lab.Path("scenario-provider.json") }

// keepProvider writes the lab's OIDC provider down, unless an earlier one is.
func (s *shop) keepProvider(ctx context.Context) error {
	found, err := s.iam.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(s.provider)})
	if err != nil {
		return err
	}
	text, err := json.Marshal(iam.CreateOpenIDConnectProviderInput{
		Url: aws.String(s.Lab.IssuerURL()), ClientIDList: found.ClientIDList, ThumbprintList: found.ThumbprintList, Tags: found.Tags,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(s.keptProvider(), text, 0o600)
}

// providerBack makes the lab's OIDC provider as it was written down, if it was, with its tags: by these
// the issuer's controller knows it for its own.
func (s *shop) providerBack(ctx context.Context) error {
	text, err := os.ReadFile(s.keptProvider())
	if err != nil {
		return ignoreAbsent(err)
	}
	var kept iam.CreateOpenIDConnectProviderInput
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("%s: %w", s.keptProvider(), err)
	}
	if _, err := s.iam.DeleteOpenIDConnectProvider(ctx, &iam.DeleteOpenIDConnectProviderInput{OpenIDConnectProviderArn: aws.String(s.provider)}); err != nil && !isAbsent(err) {
		return err
	}
	if _, err := s.iam.CreateOpenIDConnectProvider(ctx, &kept); err != nil {
		return err
	}
	return os.Remove(s.keptProvider())
}

// keptKeys is the file that has the issuer's keys while others are published.
func (s *shop) keptKeys() string { return s.Lab.Path("scenario-keys.json") }

// keysBack publishes the issuer's keys as they were written down, if they were, and are still away.
func (s *shop) keysBack(ctx context.Context) error {
	text, err := os.ReadFile(s.keptKeys())
	if err != nil {
		return ignoreAbsent(err)
	}
	_, err = s.s3.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(s.Lab.Bucket), Key: aws.String(keysKey)})
	if _, away := errors.AsType[*s3types.NotFound](err); away {
		err = s.setKeys(ctx, string(text))
	}
	if err != nil {
		return err
	}
	return os.Remove(s.keptKeys())
}

// kept is the file that has the webhook's configuration while it is away.
func (s *shop) kept() string { return s.Lab.Path("scenario-webhook.json") }

// keepWebhook writes the webhook's configuration down.
func (s *shop) keepWebhook(ctx context.Context) error {
	found, err := s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(ctx, webhookName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	found.ObjectMeta = metav1.ObjectMeta{Name: found.Name, Labels: found.Labels, Annotations: found.Annotations}
	text, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return os.WriteFile(s.kept(), text, 0o600)
}

// webhookBack creates the webhook's configuration as it was written down, if it was and is away. Of one
// that is there, it takes back what a scenario has added.
func (s *shop) webhookBack(ctx context.Context) error {
	text, err := os.ReadFile(s.kept())
	if err != nil {
		return ignoreAbsent(err)
	}
	var found admissionv1.MutatingWebhookConfiguration
	if err := json.Unmarshal(text, &found); err != nil {
		return fmt.Errorf("%s: %w", s.kept(), err)
	}
	_, err = s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(ctx, &found, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		err = s.changeWebhook(ctx, func(selector *metav1.LabelSelector) { delete(selector.MatchLabels, labelKey) })
	}
	if err != nil {
		return err
	}
	return os.Remove(s.kept())
}

// changeWebhook changes which namespaces the hooks of the webhook's configuration are asked about.
func (s *shop) changeWebhook(ctx context.Context, change func(*metav1.LabelSelector)) error {
	all := s.kube.AdmissionregistrationV1().MutatingWebhookConfigurations()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found, err := all.Get(ctx, webhookName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for i := range found.Webhooks {
			if found.Webhooks[i].NamespaceSelector == nil {
				found.Webhooks[i].NamespaceSelector = &metav1.LabelSelector{}
			}
			change(found.Webhooks[i].NamespaceSelector)
		}
		_, err = all.Update(ctx, found, metav1.UpdateOptions{})
		return err
	})
}

// tokensAge moves the clock by which the local AWS judges tokens, and only that one.
func (s *shop) tokensAge(ctx context.Context, offset string) error {
	body, err := json.Marshal(map[string]string{"tokenOffset": offset})
	if err != nil {
		return err
	}
	secret, err := s.folder.AdminToken()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Lab.AWSURL()+"/_awslocal/clock", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+secret)
	return s.do(request)
}

// get asks the local AWS for what anybody may read.
func (s *shop) get(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Lab.AWSURL()+path, nil)
	if err != nil {
		return err
	}
	return s.do(request)
}

func (s *shop) do(request *http.Request) error {
	client, err := s.folder.Client()
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it is only read
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, answer.Status)
	}
	return nil
}

// stop ends a process of the lab that would mend what is planted.
func (s *shop) stop(ctx context.Context, name string) error {
	err := lab.Stop(ctx, s.Lab.Dir, name)
	if err == nil {
		s.Say("%s is stopped, which would mend this by itself; docs/quickstart.md starts it", name)
	}
	return ignoreAbsent(err)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
