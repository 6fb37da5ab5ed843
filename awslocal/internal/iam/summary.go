package iam

type summaryResult struct {
	SummaryMap struct {
		Entries []summaryEntry `xml:"entry"`
	}
}

type summaryEntry struct {
	Key   string `xml:"key"`
	Value int    `xml:"value"`
}

// getAccountSummary counts what there is and names AWS's quotas. What is not
// here, such as groups, counts zero.
func getAccountSummary(r *request) any {
	r.authorize("*", nil)
	versions := 0
	for _, found := range r.account.policies {
		versions += len(found.versions)
	}
	var result summaryResult
	result.SummaryMap.Entries = []summaryEntry{
		{"AccessKeysPerUserQuota", maxKeys},
		{"AccountAccessKeysPresent", 0},
		{"AccountMFAEnabled", 0},
		{"AccountPasswordPresent", 0},
		{"AccountSigningCertificatesPresent", 0},
		{"AssumeRolePolicySizeQuota", maxTrust},
		{"AttachedPoliciesPerGroupQuota", maxAttached},
		{"AttachedPoliciesPerRoleQuota", maxAttached},
		{"AttachedPoliciesPerUserQuota", maxAttached},
		{"GlobalEndpointTokenVersion", 1},
		{"GroupPolicySizeQuota", 5120},
		{"Groups", 0},
		{"GroupsPerUserQuota", 10},
		{"GroupsQuota", 300},
		{"InstanceProfiles", 0},
		{"InstanceProfilesQuota", 1000},
		{"MFADevices", 0},
		{"MFADevicesInUse", 0},
		{"Policies", len(r.account.policies)},
		{"PoliciesQuota", maxPolicies},
		{"PolicySizeQuota", maxManaged},
		{"PolicyVersionsInUse", versions},
		{"PolicyVersionsInUseQuota", 10000},
		{"Providers", len(r.account.providers)},
		{"RolePolicySizeQuota", inlineRoom[roleKind]},
		{"Roles", len(r.account.roles)},
		{"RolesQuota", r.options.MaxRoles},
		{"ServerCertificates", 0},
		{"ServerCertificatesQuota", 20},
		{"SigningCertificatesPerUserQuota", 2},
		{"UserPolicySizeQuota", inlineRoom[userKind]},
		{"Users", len(r.account.users)},
		{"UsersQuota", maxUsers},
		{"VersionsPerPolicyQuota", maxVersions},
	}
	return result
}
