package contract_test

var eksAuthRows = []row{{
	// Who asks is the node; whose pod it is, the token tells. Neither learns whether
	// the role is gone or does not trust EKS.
	operation: "AssumeRoleForPodIdentity",
	needs:     []string{"eks/CreatePodIdentityAssociation"},
	call: func(w *world) error {
		return w.eksAuth.assumeRoleForPodIdentity(w.ctx, w.cluster, w.issuer.podToken(w.namespace, w.serviceAccount, w.server.Admin().Now()))
	},
	absent: "ResourceNotFoundException",
	lose:   func(w *world) error { return w.run("iam/DeleteRole") },
	lost:   "AccessDeniedException",
}}
