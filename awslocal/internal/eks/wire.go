package eks

import (
	"encoding/base64"

	"github.com/tabard-dev/tabard/awslocal/internal/restjson"
)

type vpcConfig struct {
	SubnetIDs             []string `json:"subnetIds"`
	SecurityGroupIDs      []string `json:"securityGroupIds"`
	EndpointPublicAccess  *bool    `json:"endpointPublicAccess"`
	EndpointPrivateAccess *bool    `json:"endpointPrivateAccess"`
	PublicAccessCIDRs     []string `json:"publicAccessCidrs"`
}

type accessConfig struct {
	Bootstrap *bool  `json:"bootstrapClusterCreatorAdminPermissions,omitempty"`
	Mode      string `json:"authenticationMode,omitempty"`
}

type clusterElement struct {
	Name            string            `json:"name"`
	ARN             string            `json:"arn"`
	CreatedAt       restjson.Time     `json:"createdAt"`
	Version         string            `json:"version,omitempty"`
	PlatformVersion string            `json:"platformVersion"`
	Endpoint        string            `json:"endpoint,omitempty"`
	RoleARN         string            `json:"roleArn,omitempty"`
	Network         vpcConfig         `json:"resourcesVpcConfig"`
	Identity        identityElement   `json:"identity"`
	Status          string            `json:"status"`
	Authority       authorityElement  `json:"certificateAuthority"`
	Request         string            `json:"clientRequestToken,omitempty"`
	Access          accessConfig      `json:"accessConfig"`
	Tags            map[string]string `json:"tags"`
}

type identityElement struct {
	OIDC struct {
		Issuer string `json:"issuer"`
	} `json:"oidc"`
}

type authorityElement struct {
	Data string `json:"data,omitempty"`
}

type clusterAnswer struct {
	Cluster clusterElement `json:"cluster"`
}

const platformVersion = "eks.1"

func (c *cluster) answer(status string) clusterAnswer {
	element := clusterElement{
		Name: c.name, ARN: c.arn(), CreatedAt: restjson.Time(c.created), Version: c.version, PlatformVersion: platformVersion,
		Endpoint: c.endpoint, RoleARN: c.roleARN, Network: c.network, Status: status, Request: c.request,
		Authority: authorityElement{base64.StdEncoding.EncodeToString([]byte(c.authority))},
		Access:    accessConfig{&c.bootstrap, c.mode}, Tags: c.tags,
	}
	element.Identity.OIDC.Issuer = c.issuer
	return clusterAnswer{element}
}

type clustersAnswer struct {
	Clusters  []string `json:"clusters"`
	NextToken string   `json:"nextToken,omitempty"`
}

type entryElement struct {
	ClusterName  string            `json:"clusterName"`
	PrincipalARN string            `json:"principalArn"`
	Groups       []string          `json:"kubernetesGroups"`
	ARN          string            `json:"accessEntryArn"`
	CreatedAt    restjson.Time     `json:"createdAt"`
	ModifiedAt   restjson.Time     `json:"modifiedAt"`
	Tags         map[string]string `json:"tags"`
	Username     string            `json:"username"`
	Type         string            `json:"type"`
}

type entryAnswer struct {
	Entry entryElement `json:"accessEntry"`
}

func (e *entry) answer(cluster string) entryAnswer {
	return entryAnswer{entryElement{
		ClusterName: cluster, PrincipalARN: e.principal, Groups: e.groups, ARN: e.arn, Tags: e.tags, Username: e.username, Type: e.kind,
		CreatedAt: restjson.Time(e.created), ModifiedAt: restjson.Time(e.modified),
	}}
}

type entriesAnswer struct {
	Entries   []string `json:"accessEntries"`
	NextToken string   `json:"nextToken,omitempty"`
}

type accessPolicyElement struct {
	Name string `json:"name"`
	ARN  string `json:"arn"`
}

type accessPoliciesAnswer struct {
	Policies  []accessPolicyElement `json:"accessPolicies"`
	NextToken string                `json:"nextToken,omitempty"`
}

type accessScope struct {
	Type       string   `json:"type"`
	Namespaces []string `json:"namespaces"`
}

type grantElement struct {
	PolicyARN    string        `json:"policyArn"`
	Scope        accessScope   `json:"accessScope"`
	AssociatedAt restjson.Time `json:"associatedAt"`
	ModifiedAt   restjson.Time `json:"modifiedAt"`
}

func (g *grant) element() grantElement {
	return grantElement{g.arn, g.scope, restjson.Time(g.created), restjson.Time(g.modified)}
}

type grantAnswer struct {
	ClusterName  string       `json:"clusterName"`
	PrincipalARN string       `json:"principalArn"`
	Policy       grantElement `json:"associatedAccessPolicy"`
}

type grantsAnswer struct {
	ClusterName  string         `json:"clusterName"`
	PrincipalARN string         `json:"principalArn"`
	Policies     []grantElement `json:"associatedAccessPolicies"`
	NextToken    string         `json:"nextToken,omitempty"`
}

type associationElement struct {
	ClusterName        string            `json:"clusterName"`
	Namespace          string            `json:"namespace"`
	ServiceAccount     string            `json:"serviceAccount"`
	RoleARN            string            `json:"roleArn"`
	ARN                string            `json:"associationArn"`
	ID                 string            `json:"associationId"`
	Tags               map[string]string `json:"tags"`
	CreatedAt          restjson.Time     `json:"createdAt"`
	ModifiedAt         restjson.Time     `json:"modifiedAt"`
	DisableSessionTags bool              `json:"disableSessionTags"`
	TargetRoleARN      string            `json:"targetRoleArn,omitempty"`
	ExternalID         string            `json:"externalId,omitempty"`
	Policy             string            `json:"policy,omitempty"`
}

type associationAnswer struct {
	Association associationElement `json:"association"`
}

func (a *association) answer(cluster string) associationAnswer {
	return associationAnswer{associationElement{
		ClusterName: cluster, Namespace: a.namespace, ServiceAccount: a.serviceAccount, RoleARN: a.role, ARN: a.arn, ID: a.id, Tags: a.tags,
		CreatedAt: restjson.Time(a.created), ModifiedAt: restjson.Time(a.modified), DisableSessionTags: a.untagged,
		TargetRoleARN: a.target, ExternalID: a.externalID, Policy: a.policy,
	}}
}

type associationSummary struct {
	ClusterName    string `json:"clusterName"`
	Namespace      string `json:"namespace"`
	ServiceAccount string `json:"serviceAccount"`
	ARN            string `json:"associationArn"`
	ID             string `json:"associationId"`
}

type associationsAnswer struct {
	Associations []associationSummary `json:"associations"`
	NextToken    string               `json:"nextToken,omitempty"`
}

type tagsAnswer struct {
	Tags map[string]string `json:"tags"`
}

// empty is the answer of operations without output.
type empty struct{}
