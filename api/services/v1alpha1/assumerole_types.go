package v1alpha1

// AssumeRole is the input of STS's AssumeRole beside the role (AWS STS API
// Reference: AssumeRole).
//
// Templates hold variables as %NAME%; any other percent sign is refused. What an
// administrator or Kubernetes itself says is trusted: CLUSTER_ID,
// CONTROLLER_NAMESPACE, SERVICE, KIND, K8S_NAMESPACE, K8S_NAMESPACE_UID,
// SELECTOR_NAME, SELECTOR_UID, and NAMESPACE_LABEL(key) for a key that an
// administrator protects. What the people of a namespace say is not:
// RESOURCE_NAME, RESOURCE_UID, RESOURCE_LABEL(key).
//
// +kubebuilder:validation:XValidation:rule="!has(self.transitiveTagKeys) || self.transitiveTagKeys.all(k, has(self.sessionTags) && self.sessionTags.exists(tag, tag.key == k))",message="transitiveTagKeys are keys of sessionTags",fieldPath=".transitiveTagKeys"
type AssumeRole struct {
	// ExternalID is what the role's trust policy may ask for: 2 to 1224 letters,
	// digits and _+=,.@:/-. Its template may hold CLUSTER_ID,
	// CONTROLLER_NAMESPACE, K8S_NAMESPACE, K8S_NAMESPACE_UID, SELECTOR_NAME and
	// SELECTOR_UID only: nobody but an administrator may decide it.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.value) || self.value.matches('^[A-Za-z0-9_+=,.@:/-]{2,}$')",message="value is 2 to 1224 letters, digits and _+=,.@:/-"
	// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.template.matches('^([A-Za-z0-9_+=,.@:/-]|%(CLUSTER_ID|CONTROLLER_NAMESPACE|K8S_NAMESPACE|K8S_NAMESPACE_UID|SELECTOR_NAME|SELECTOR_UID)%)*$')",message="template holds only letters, digits, _+=,.@:/-, %CLUSTER_ID%, %CONTROLLER_NAMESPACE%, %K8S_NAMESPACE%, %K8S_NAMESPACE_UID%, %SELECTOR_NAME% and %SELECTOR_UID%"
	ExternalID *Text `json:"externalID,omitempty"`
	// SessionName is what CloudTrail shows: 2 to 64 letters, digits and _+=,.@-.
	// Its template may hold all variables; what is longer is cut, with a digest.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.value) || self.value.matches('^[A-Za-z0-9_+=,.@-]{2,64}$')",message="value is 2 to 64 letters, digits and _+=,.@-"
	// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.template.matches('^([A-Za-z0-9_+=,.@-]|%(CLUSTER_ID|CONTROLLER_NAMESPACE|SERVICE|KIND|K8S_NAMESPACE|K8S_NAMESPACE_UID|SELECTOR_NAME|SELECTOR_UID|NAMESPACE_LABEL[(][A-Za-z0-9][A-Za-z0-9._/-]*[)]|RESOURCE_NAME|RESOURCE_UID|RESOURCE_LABEL[(][A-Za-z0-9][A-Za-z0-9._/-]*[)])%)*$')",message="template holds only letters, digits, _+=,.@- and known variables such as %K8S_NAMESPACE%, %NAMESPACE_LABEL(key)% or %RESOURCE_NAME%"
	SessionName *Text `json:"sessionName,omitempty"`
	// DurationSeconds is how long credentials hold.
	//
	// +optional
	// +kubebuilder:validation:Minimum=900
	// +kubebuilder:validation:Maximum=3600
	DurationSeconds *int32 `json:"durationSeconds,omitempty"`
	// SessionTags are tags of the session, for policies' aws:PrincipalTag. The
	// role's trust policy and the caller's policies must allow sts:TagSession.
	//
	// +optional
	// +listType=map
	// +listMapKey=key
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.key.lowerAscii() == b.key.lowerAscii()))",message="two keys differ in upper and lower case only"
	SessionTags []SessionTag `json:"sessionTags,omitempty"`
	// TransitiveTagKeys are keys of tags that go on to further sessions.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=128
	TransitiveTagKeys []string `json:"transitiveTagKeys,omitempty"`
	// SourceIdentity stays with all sessions that come from this one: 2 to 64
	// letters, digits and _+=,.@-. Its template may hold trusted variables only.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.value) || self.value.matches('^[A-Za-z0-9_+=,.@-]{2,64}$')",message="value is 2 to 64 letters, digits and _+=,.@-"
	// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.template.matches('^([A-Za-z0-9_+=,.@-]|%(CLUSTER_ID|CONTROLLER_NAMESPACE|SERVICE|KIND|K8S_NAMESPACE|K8S_NAMESPACE_UID|SELECTOR_NAME|SELECTOR_UID|NAMESPACE_LABEL[(][A-Za-z0-9][A-Za-z0-9._/-]*[)])%)*$')",message="template holds only letters, digits, _+=,.@- and trusted variables such as %K8S_NAMESPACE% or %NAMESPACE_LABEL(key)%, none of the resource's"
	SourceIdentity *Text `json:"sourceIdentity,omitempty"`
	// PolicyARNs are managed policies that narrow the session.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=2048
	// +kubebuilder:validation:items:Pattern=`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]{1,512}$`
	PolicyARNs []string `json:"policyARNs,omitempty"`
	// CacheScope is what shares credentials; it may be narrower than what the
	// templates ask for, never wider.
	//
	// +optional
	CacheScope CacheScope `json:"cacheScope,omitempty"`
}

// Text is a fixed text or one with variables in it.
//
// +kubebuilder:validation:XValidation:rule="has(self.value) != has(self.template)",message="exactly one of value and template is set"
type Text struct {
	// Value is used as it is.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1224
	Value string `json:"value,omitempty"`
	// Template holds variables as %NAME%.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1224
	Template string `json:"template,omitempty"`
}

// SessionTag is one tag of a session. Its value is at most 256 letters, digits,
// blanks and _.:/=+-@. Computed tags have keys of their own, which begin with
// ack-, because AWS refuses to replace tags that a session inherits, such as those
// of EKS Pod Identity; what the people of a namespace decide is only in tags that
// begin with ack-user-.
//
// +kubebuilder:validation:XValidation:rule="!has(self.value) || self.value.matches('^[\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]{0,256}$')",message="value is at most 256 letters, digits, blanks and _.:/=+-@"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.key.startsWith('ack-')",message="a tag with a template has a key that begins with ack-",fieldPath=".key"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.template.matches('^([\\\\p{L}\\\\p{Z}\\\\p{N}_.:/=+@-]|%(CLUSTER_ID|CONTROLLER_NAMESPACE|SERVICE|KIND|K8S_NAMESPACE|K8S_NAMESPACE_UID|SELECTOR_NAME|SELECTOR_UID|NAMESPACE_LABEL[(][A-Za-z0-9][A-Za-z0-9._/-]*[)]|RESOURCE_NAME|RESOURCE_UID|RESOURCE_LABEL[(][A-Za-z0-9][A-Za-z0-9._/-]*[)])%)*$')",message="template holds only letters, digits, blanks, _.:/=+-@ and known variables such as %K8S_NAMESPACE%, %NAMESPACE_LABEL(key)% or %RESOURCE_NAME%"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || self.key.startsWith('ack-user-') || !self.template.matches('%(RESOURCE_NAME|RESOURCE_UID|RESOURCE_LABEL[(][A-Za-z0-9][A-Za-z0-9._/-]*[)])%')",message="the resource's own variables are only in sessionName, and in tags whose key begins with ack-user-"
type SessionTag struct {
	// Key is the tag's key: letters, digits, blanks and _.:/=+-@. aws: is
	// reserved. AWS does not tell upper from lower case.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9 _.:/=+@-]+$`
	// +kubebuilder:validation:XValidation:rule="!self.lowerAscii().startsWith('aws:')",message="aws: is reserved"
	Key string `json:"key"`
	// Text is its value.
	Text `json:",inline"`
}

// CacheScope is what shares one session.
//
// +kubebuilder:validation:Enum=Selector;Namespace;Resource
type CacheScope string

// The scopes.
const (
	SelectorScope  CacheScope = "Selector"
	NamespaceScope CacheScope = "Namespace"
	ResourceScope  CacheScope = "Resource"
)
