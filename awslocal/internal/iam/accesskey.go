package iam

import (
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/call"
	"github.com/tabard-dev/tabard/awslocal/internal/identifier"
	"github.com/tabard-dev/tabard/awslocal/internal/pattern"
	"github.com/tabard-dev/tabard/awslocal/internal/query"
)

const (
	maxKeys = 2

	active   = "Active"
	inactive = "Inactive"
)

var (
	keyPattern    = pattern.New(`^[\w]+$`)
	statusPattern = pattern.New(`^(Active|Inactive)$`)
)

func (k *accessKey) status() string {
	if k.inactive {
		return inactive
	}
	return active
}

// createAccessKey is the only operation that shows a secret.
func createAccessKey(r *request) any {
	found := r.userOrCaller(nil)
	if len(found.keys) >= maxKeys {
		call.Refuse(tooManyKeys())
	}
	made := &accessKey{
		Key:     Key{ID: r.options.Identifiers.Unique(identifier.LongLivedKey), Secret: r.options.Identifiers.Secret()},
		created: r.call.Now,
	}
	r.changesKey(made.ID, nil)
	found.keys = append(found.keys, made)
	r.keys[made.ID] = keyOwner{found, made}
	element := wireKey(found, made)
	element.SecretAccessKey = made.Secret
	return keyResult{element}
}

func listAccessKeys(r *request) any {
	found := r.userOrCaller(nil)
	shown, end := page(r, slices.Clone(found.keys),
		func(key *accessKey) string { return key.ID }, func(key *accessKey) keyElement { return wireKey(found, key) })
	return keysResult{shown, end}
}

// accessKey reads the user and AccessKeyId and finds the key, which must be the
// user's.
func (r *request) accessKey() (*user, *accessKey) {
	id := r.text("AccessKeyId", 16, 128, keyPattern)
	found := r.userOrCaller(nil)
	i := slices.IndexFunc(found.keys, func(key *accessKey) bool { return key.ID == id })
	if i < 0 {
		call.Refuse(noKey(id))
	}
	r.changesKey(id, &keyOwner{found, found.keys[i]})
	return found, found.keys[i]
}

func updateAccessKey(r *request) any {
	status := r.text("Status", 1, 16, statusPattern)
	_, key := r.accessKey()
	key.inactive = status == inactive
	return nil
}

func deleteAccessKey(r *request) any {
	found, key := r.accessKey()
	delete(r.keys, key.ID)
	found.keys = slices.DeleteFunc(found.keys, func(one *accessKey) bool { return one == key })
	return nil
}

// getAccessKeyLastUsed is exact to the request; AWS's answer may be minutes old.
func getAccessKeyLastUsed(r *request) any {
	id := r.text("AccessKeyId", 16, 128, keyPattern)
	owner, known := r.keys[id]
	known = known && owner.user.home == r.account.home
	resource := "*"
	if known {
		resource = owner.user.arn()
	}
	r.authorize(resource, nil)
	if !known {
		call.Refuse(noKey(id))
	}
	used := lastUsedElement{ServiceName: "N/A", Region: "N/A"}
	if !owner.key.used.IsZero() {
		used = lastUsedElement{LastUsedDate: query.Time(owner.key.used), ServiceName: owner.key.service, Region: owner.key.region}
	}
	return lastUsedResult{UserName: owner.user.name, AccessKeyLastUsed: used}
}
