package kube

// NewRolesAlone are roles that follow no cluster: a test fills their index.
func NewRolesAlone(options RolesOptions) *Roles {
	quiet := func(string, ...any) {}
	return newRoles(newSelectors(options.Options, logs{quiet, quiet}), options)
}
