package ekstoken

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Entry is an access entry of EKS, as far as it says who a principal is in the cluster.
type Entry struct {
	// PrincipalARN is that of the role or user, PrincipalID the unique ID to which EKS ties
	// the entry.
	PrincipalARN, PrincipalID string
	// Username may have the placeholders {{AccountID}}, {{SessionName}}, {{SessionNameRaw}}
	// and {{AccessKeyID}}, and so may the Groups.
	Username string
	Groups   []string
}

// User is who the holder of a token is in the cluster.
type User struct {
	Username, UID string
	Groups        []string
	Extra         map[string][]string
}

// ErrNoEntry says that no access entry lets a caller in.
var ErrNoEntry = errors.New("the cluster has no access entry for the caller")

// UserOf is who a caller is by the entries of a cluster (aws-iam-authenticator 0.7.18). An entry
// is the caller's by the ARN, in which the case of letters makes no difference, and by the unique
// ID: a role that was deleted and made anew under its name is another one. The error says what is
// in the way, and shows nothing of the token.
func UserOf(caller Caller, accessKeyID string, entries []Entry) (User, error) {
	at := slices.IndexFunc(entries, func(e Entry) bool {
		return strings.EqualFold(e.PrincipalARN, caller.Canonical) && e.PrincipalID == caller.ID && caller.ID != ""
	})
	if at < 0 {
		return User{}, fmt.Errorf("%w %s", ErrNoEntry, caller.Canonical)
	}
	entry := entries[at]
	fill := strings.NewReplacer(
		"{{AccountID}}", caller.Account, "{{SessionName}}", strings.ReplaceAll(caller.Session, "@", "-"),
		"{{SessionNameRaw}}", caller.Session, "{{AccessKeyID}}", accessKeyID,
	).Replace
	user := User{
		Username: fill(entry.Username), UID: "aws-iam-authenticator:" + caller.Account + ":" + caller.ID,
		Extra: map[string][]string{
			"arn": {caller.ARN}, "canonicalArn": {caller.Canonical}, "sessionName": {caller.Session}, "accessKeyId": {accessKeyID},
			"principalId": {caller.ID}, "sigs.k8s.io/aws-iam-authenticator/principalId": {caller.ID},
		},
	}
	for _, group := range entry.Groups {
		user.Groups = append(user.Groups, fill(group))
	}
	for _, text := range append([]string{user.Username}, user.Groups...) {
		if text == "" || strings.Contains(text, "{{") {
			return User{}, fmt.Errorf("the access entry of %s gives the name %q, which cannot be filled in", caller.Canonical, text)
		}
	}
	return user, nil
}
