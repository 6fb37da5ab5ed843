// Package rolerequest is what an operator's administrator asks of whoever owns the cloud account:
// a role, for whom and for what, as a document that can be sent, and read back when the role is to
// be checked. It does no I/O, and the same request is the same bytes each time.
package rolerequest

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/tabard-dev/tabard/awsauth/identity"
	"github.com/tabard-dev/tabard/internal/core/iamname"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

// The type of a Request and of a Reply in JSON.
const (
	APIVersion = permission.APIVersion
	Kind       = "RoleRequest"
	ReplyKind  = "RoleReply"
)

// Place is where an operator is, or will be.
type Place struct {
	// Cluster is the cluster's name, as people know it.
	Cluster string
	// Namespace is the one that the operator is installed in.
	Namespace string
	// Issuer is the URL of the issuer of the cluster's tokens.
	Issuer string
	// Account is the AWS account of the role, twelve digits; empty where it is not known.
	Account string
	// Partition is AWS's, such as aws; empty for aws.
	Partition string
}

// Role is how the role shall be. An empty Name is the default one, which is made of the names of the
// cluster, the namespace and the package.
type Role struct {
	Name string `json:"name"`
	// Prefix begins the default name. New puts it into Name, and a request has none.
	Prefix string `json:"-"`
	// Path is empty for /.
	Path string `json:"path,omitempty"`
	// Boundary is the ARN of its permissions boundary; empty for none.
	Boundary string            `json:"permissionsBoundary,omitempty"`
	Tags     map[string]string `json:"tags,omitempty"`
}

// Request asks for one role, by which all requests of an operator are served.
type Request struct {
	Place
	Role Role
	// Permissions are what the operator asks for, with the namespace in its place. They are known,
	// complete, of one cloud, and not empty.
	Permissions permission.Set
}

// New is the request for what a set asks for. A set that is not known, is not complete, or asks
// several clouds, is refused: its role could not be judged.
func New(set permission.Set, place Place, role Role) (Request, error) {
	r := Request{Place: place, Role: role, Permissions: set.In(place.Namespace)}
	// Findings are about the source, and change with the program's words.
	r.Permissions.Findings = nil
	if err := r.check(); err != nil {
		return Request{}, err
	}
	if r.Role.Name == "" {
		r.Role.Name = r.defaultName()
	}
	r.Role.Prefix = ""
	return r, r.checkRole()
}

// defaultName is <cluster>-<namespace>-<package> after the prefix, cut with a hash to what IAM takes.
func (r Request) defaultName() string {
	return iamname.Within(r.Role.Prefix+r.Cluster+"-"+r.Namespace+"-"+r.Permissions.Package, iamname.MaxRole)
}

// word is what names of clusters and packages consist of. They stand in names of roles, in tags,
// and in commands.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]([\w.-]{0,251}[A-Za-z0-9])?$`) })

var partition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^aws(-[a-z]{1,20}){0,3}$`) })

func (r Request) check() error {
	p := r.Permissions
	_, known := p.Requests()
	switch {
	case !known:
		return errors.New("it is unknown what the operator asks the cloud for: no role can be asked for")
	case p.AsksNothing():
		return errors.New("the operator declares that it asks the cloud for nothing: it needs no role")
	case p.Incomplete:
		return errors.New("a part of what the operator asks for could not be read: a role for the rest would not be enough")
	case !word().MatchString(p.Package):
		return fmt.Errorf("the package is %.100q, expected letters, digits and -, _ or . between them", p.Package)
	case !word().MatchString(r.Cluster):
		return fmt.Errorf("the cluster's name is %.100q, expected letters, digits and -, _ or . between them", r.Cluster)
	case len(validation.IsDNS1123Label(r.Namespace)) > 0:
		return fmt.Errorf("the namespace is %.100q, expected that in which the operator is installed", r.Namespace)
	case r.Account != "" && !identity.IsAccountID(r.Account):
		return fmt.Errorf("the account is %.100q, expected the twelve digits of an AWS account", r.Account)
	}
	if !partition().MatchString(r.partition()) {
		return fmt.Errorf("the partition is %.100q, expected one of AWS's, such as aws or aws-cn", r.Partition)
	}
	if err := CheckIssuer(r.Issuer); err != nil {
		return err
	}
	return r.checkRequests()
}

func (r Request) checkRequests() error {
	requests, _ := r.Permissions.Requests()
	for _, one := range requests {
		if one.Cloud() == "" || one.Cloud() != requests[0].Cloud() {
			return fmt.Errorf("the requests are to several clouds, %s and %s among them: choose one", requests[0].Cloud(), one.Cloud())
		}
		for _, account := range one.ServiceAccounts {
			if len(validation.IsDNS1123Label(account.Namespace)) > 0 || len(validation.IsDNS1123Subdomain(account.Name)) > 0 {
				return fmt.Errorf("the request %.100q names the ServiceAccount %.100q of namespace %.100q, which cannot exist", one.Name, account.Name, account.Namespace)
			}
		}
		for _, audience := range one.Audiences {
			if strings.ContainsAny(audience, "*?$") || audience == "" || len(audience) > 255 {
				return fmt.Errorf("the request %.100q has the audience %.100q, expected one without *, ? and $", one.Name, audience)
			}
		}
		if len(one.ServiceAccounts) == 0 {
			return fmt.Errorf("the request %.100q names no ServiceAccount: nobody could become the role", one.Name)
		}
	}
	return nil
}

// CheckIssuer refuses what cannot stand in the condition keys of a trust policy.
func CheckIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(issuer, "*?#$ \\\"'<>\n") || len(issuer) > 255 {
		return fmt.Errorf("the issuer is %.300q, expected a URL with https:// and without query", issuer)
	}
	return nil
}

func (r Request) checkRole() error {
	switch role := r.Role; {
	case !iamname.IsRole(role.Name):
		return fmt.Errorf("the role's name is %.100q, expected 1 to 64 letters, digits and _+=,.@-", role.Name)
	case role.Path != "" && !iamname.IsPath(role.Path):
		return fmt.Errorf("the role's path is %.100q, expected one that begins and ends with /, such as /operators/", role.Path)
	case role.Boundary != "" && !iamname.IsPolicyARN(role.Boundary):
		return fmt.Errorf("the permissions boundary is %.200q, expected the ARN of a policy", role.Boundary)
	}
	return nil
}

// Cloud is the cloud of all its requests.
func (r Request) Cloud() permission.Cloud {
	requests, _ := r.Permissions.Requests()
	if len(requests) == 0 {
		return ""
	}
	return requests[0].Cloud()
}

// partition is that of AWS.
func (r Request) partition() string {
	if r.Partition == "" {
		return "aws"
	}
	return r.Partition
}

// ProviderARN is that of the issuer's OIDC provider in the account; empty where that is not known.
func (r Request) ProviderARN() string {
	if r.Account == "" {
		return ""
	}
	return r.ARN("oidc-provider/" + strings.TrimPrefix(r.Issuer, "https://"))
}

// ARN is that of a resource of IAM in the account.
func (r Request) ARN(resource string) string {
	return identity.ARN{Partition: r.partition(), Service: "iam", Account: r.Account, Resource: resource}.String()
}

// RolePath is the role's path, which begins and ends with a slash.
func (r Request) RolePath() string {
	if r.Role.Path == "" {
		return "/"
	}
	return r.Role.Path
}

// Subjects are the ServiceAccounts as they stand in tokens, sorted.
func (r Request) Subjects() []string {
	return r.each(func(one permission.Request) (out []string) {
		for _, account := range one.ServiceAccounts {
			out = append(out, "system:serviceaccount:"+account.Namespace+":"+account.Name)
		}
		return out
	})
}

// Audiences are those of the tokens, sorted.
func (r Request) Audiences() []string {
	return r.each(func(one permission.Request) []string { return one.Audiences })
}

func (r Request) each(of func(permission.Request) []string) []string {
	out := []string{}
	requests, _ := r.Permissions.Requests()
	for _, one := range requests {
		out = append(out, of(one)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Digest is that of what the role is needed for.
func (r Request) Digest() string { return r.Permissions.Digest() }
