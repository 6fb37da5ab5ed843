package console

import (
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tabard-dev/tabard/internal/testkit/awstest"
	"github.com/tabard-dev/tabard/internal/testkit/must"
)

// A person does one thing after the other that the overview says, until all is well.
func TestBrowserShowsWhatIsToBeDone(t *testing.T) {
	const namespace = "shop-todo"
	c, aws := withAWS(t)
	provider := aws.Provider(account, c.Issuer(), "sts.amazonaws.com")
	aws.Role(account, "checkout", awstest.Trust(provider, "system:serviceaccount:"+namespace+":checkout", "sts.amazonaws.com"),
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:GetObject","Resource":"arn:aws:s3:::orders/*"}]}`)
	c.MakeNamespaces(namespace)
	c.Make(
		serviceAccount(namespace, "checkout", "checkout"), withToken(namespace, "checkout-6d9c", "checkout", checkoutRole), pod(namespace, "lacks", "checkout"),
		serviceAccount(namespace, "sound", checkoutRole), withToken(namespace, "sound-5b7d", "sound", checkoutRole),
	)
	object(c, `{"apiVersion":"cloudcredential.openshift.io/v1","kind":"CredentialsRequest","metadata":{"name":"reports","namespace":"`+namespace+`"},
"spec":{"storage":{"serviceAccount":{"namespace":"`+namespace+`","name":"reports"}},"providerSpec":{"apiVersion":"cloudcredential.openshift.io/v1","kind":"AWSProviderSpec","statementEntries":[{"effect":"Allow","action":["s3:GetObject"],"resource":"*"}]}}}`)
	start(t, "--kubeconfig", c.Kubeconfig(c.Config)).plays("overview", map[string]string{
		"namespace": namespace, "arn": checkoutRole, "terminal": types(c),
	})
}

// A person who may read one namespace sees that one, and one who may read nothing which rights are missing.
func TestBrowserShowsTheOverviewOfOneNamespace(t *testing.T) {
	const namespace = "shop-overview"
	c := shared(t)
	shop(c, namespace)
	c.Make(serviceAccount(namespace, "reader", ""), serviceAccount(namespace, "nobody", ""))
	for n := range 11 {
		c.Make(pod(namespace, fmt.Sprintf("lacks-%d", n), "checkout"))
	}
	c.GrantIn(namespace, "system:serviceaccount:"+namespace+":reader", rbacv1.PolicyRule{
		APIGroups: []string{"", "cloudcredential.openshift.io"}, Resources: []string{"pods", "serviceaccounts", "credentialsrequests"}, Verbs: []string{"get", "list"},
	})
	for _, each := range []struct{ user, scenario string }{{"reader", "overview-mine"}, {"nobody", "overview-none"}} {
		t.Run(each.user, func(t *testing.T) {
			file := c.Kubeconfig(c.Account(namespace, each.user))
			config := must.Get(clientcmd.LoadFromFile(file))(t)
			config.Contexts[config.CurrentContext].Namespace = namespace
			must.Do(t, clientcmd.WriteToFile(*config, file))
			start(t, "--kubeconfig", file).plays(each.scenario, map[string]string{"namespace": namespace})
		})
	}
}
