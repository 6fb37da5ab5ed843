package operator

import (
	"fmt"

	"github.com/tabard-dev/tabard/internal/core/permission"
	"github.com/tabard-dev/tabard/internal/core/rolerequest"
	"github.com/tabard-dev/tabard/internal/handoff"
)

// The scripts of clouds beside AWS.
const (
	azureScript  = "azure.sh"
	googleScript = "gcp.sh"
	module       = "main.tf"
)

// otherCloud are the script and the module for Azure or Google Cloud; none where it is not known
// where the identity is to be made.
func otherCloud(r rolerequest.Request, where Where) ([]File, error) {
	asked, err := ask(r)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Cloud() == permission.Azure && where.Azure != nil:
		work := asked.Azure(*where.Azure)
		return texts(work.Text, [][2]string{{string(handoff.AzureCLI), azureScript}, {string(handoff.Terraform), module}})
	case r.Cloud() == permission.GCP && where.Google != nil:
		work, err := asked.Google(*where.Google)
		if err != nil {
			return nil, err
		}
		return texts(work.Text, [][2]string{{string(handoff.GoogleCLI), googleScript}, {string(handoff.Terraform), module}})
	}
	return nil, nil
}

func texts(write func(handoff.Form) (string, error), forms [][2]string) ([]File, error) {
	var out []File
	for _, form := range forms {
		text, err := write(handoff.Form(form[0]))
		if err != nil {
			return nil, fmt.Errorf("%s cannot be written: %w", form[1], err)
		}
		out = append(out, File{form[1], text})
	}
	return out, nil
}

// ask is what all requests of the operator ask for together, of one identity.
func ask(r rolerequest.Request) (handoff.Ask, error) {
	audiences := r.Audiences()
	if len(audiences) != 1 {
		return handoff.Ask{}, fmt.Errorf("the tokens are for %d audiences, and an identity of %s is handed over for one", len(audiences), r.Cloud())
	}
	out := handoff.Ask{
		Name: r.Role.Name, Owner: handoff.Tag{Key: OwnerTag, Value: owner(r)}, Issuer: r.Issuer, Audience: audiences[0], Subjects: r.Subjects(),
		About: []string{fmt.Sprintf("The identity of the operator %s in namespace %s of cluster %s. README.md tells who asks for what.", r.Permissions.Package, r.Namespace, r.Cluster)},
	}
	for _, a := range r.Permissions.Atoms() {
		switch a.Kind {
		case permission.KindRole:
			out.Roles = append(out.Roles, a.Value)
		case permission.KindDataPermission:
			out.DataPermissions = append(out.DataPermissions, a.Value)
		default:
			out.Permissions = append(out.Permissions, a.Value)
		}
	}
	return out, nil
}
