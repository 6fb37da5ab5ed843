package operator

import "errors"

// What a person gives that is no one role.
var (
	ErrNoRole       = errors.New("no role is given")
	ErrSeveralRoles = errors.New("roles of several clouds are given, expected one")
)

// Given is a role as a person gives it, which is one of AWS, of Azure or of Google Cloud.
type Given struct {
	ARN   string
	Azure Azure
	// Audience and ServiceAccount are of Google Cloud: the audience of the provider, and an e-mail address.
	Audience, ServiceAccount string
}

// Values are the values by which an operator gets the role. The partition is the cluster's; empty where it is
// not known. Without a role the error is ErrNoRole, and for more than one ErrSeveralRoles.
func (g Given) Values(partition string) (map[string]string, error) {
	given := 0
	for _, has := range []bool{g.ARN != "", g.Azure != Azure{}, g.Audience+g.ServiceAccount != ""} {
		if has {
			given++
		}
	}
	switch {
	case given == 0:
		return nil, ErrNoRole
	case given > 1:
		return nil, ErrSeveralRoles
	case g.ARN != "":
		return ForAWS(g.ARN, partition, "")
	case g.Azure != Azure{}:
		return ForAzure(g.Azure)
	}
	google, err := GoogleFrom(g.Audience)
	if err != nil {
		return nil, err
	}
	google.ServiceAccount = g.ServiceAccount
	return ForGoogle(google)
}
