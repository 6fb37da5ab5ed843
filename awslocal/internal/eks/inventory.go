package eks

import "github.com/tabard-dev/tabard/awslocal/internal/restjson"

// Operations are the names of all operations that the service plays, sorted.
func Operations() []string { return restjson.Operations(routes) }

// AuthOperations are those of EKS Auth.
func AuthOperations() []string { return restjson.Operations(authRoutes) }
