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
func createAccessKey(r *request) (any, *call.Fault) {
	found, fault := r.userOrCaller(nil)
	if fault != nil {
		return nil, fault
	}
	if len(found.keys) >= maxKeys {
		return nil, tooManyKeys()
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
	return keyResult{element}, nil
}

func listAccessKeys(r *request) (any, *call.Fault) {
	found, fault := r.userOrCaller(nil)
	if fault != nil {
		return nil, fault
	}
	shown, end, fault := page(r, slices.Clone(found.keys), func(key *accessKey) string { return key.ID })
	if fault != nil {
		return nil, fault
	}
	elements := []keyElement{}
	for _, key := range shown {
		elements = append(elements, wireKey(found, key))
	}
	return keysResult{listOf(elements), end}, nil
}

// accessKey reads the user and AccessKeyId and finds the key, which must be the
// user's.
func (r *request) accessKey() (*user, *accessKey, *call.Fault) {
	var v query.Validation
	id := v.Text(r.form, "AccessKeyId", 16, 128, keyPattern)
	if fault := v.Fault(); fault != nil {
		return nil, nil, fault
	}
	found, fault := r.userOrCaller(nil)
	if fault != nil {
		return nil, nil, fault
	}
	i := slices.IndexFunc(found.keys, func(key *accessKey) bool { return key.ID == id })
	if i < 0 {
		return nil, nil, noKey(id)
	}
	r.changesKey(id, &keyOwner{found, found.keys[i]})
	return found, found.keys[i], nil
}

func updateAccessKey(r *request) (any, *call.Fault) {
	var v query.Validation
	status := v.Text(r.form, "Status", 1, 16, statusPattern)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	_, key, fault := r.accessKey()
	if fault != nil {
		return nil, fault
	}
	key.inactive = status == inactive
	return nil, nil
}

func deleteAccessKey(r *request) (any, *call.Fault) {
	found, key, fault := r.accessKey()
	if fault != nil {
		return nil, fault
	}
	delete(r.keys, key.ID)
	found.keys = slices.DeleteFunc(found.keys, func(one *accessKey) bool { return one == key })
	return nil, nil
}

// getAccessKeyLastUsed is exact to the request; AWS's answer may be minutes old.
func getAccessKeyLastUsed(r *request) (any, *call.Fault) {
	var v query.Validation
	id := v.Text(r.form, "AccessKeyId", 16, 128, keyPattern)
	if fault := v.Fault(); fault != nil {
		return nil, fault
	}
	owner, known := r.keys[id]
	known = known && owner.user.home == r.account.home
	resource := "*"
	if known {
		resource = owner.user.arn()
	}
	if fault := r.authorize(resource, nil); fault != nil {
		return nil, fault
	}
	if !known {
		return nil, noKey(id)
	}
	used := lastUsedElement{ServiceName: "N/A", Region: "N/A"}
	if !owner.key.used.IsZero() {
		used = lastUsedElement{LastUsedDate: query.Time(owner.key.used), ServiceName: owner.key.service, Region: owner.key.region}
	}
	return lastUsedResult{UserName: owner.user.name, AccessKeyLastUsed: used}, nil
}
