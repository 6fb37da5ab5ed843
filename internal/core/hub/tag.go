package hub

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The most that AWS allows of a tag (IAM and EKS: "Tag naming limits").
const (
	longestKey   = 128
	longestValue = 256
	mostTags     = 40 // of 50, so that there is room for Tabard's own and for those of others
)

// ParseTags reads tags that are written KEY=VALUE, each split at its first "=". A key
// that is given twice has to have the same value.
func ParseTags(texts []string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		was, twice := out[key]
		lower := strings.ToLower(key)
		switch {
		case !ok:
			return nil, fmt.Errorf("the tag %s has no \"=\"; write KEY=VALUE", quoted(text))
		case key == "":
			return nil, fmt.Errorf("the tag %s has no key; write KEY=VALUE", quoted(text))
		case strings.HasPrefix(lower, "aws:"):
			return nil, fmt.Errorf("the tag %s begins with aws:, which only AWS may use; choose another key", quoted(text))
		case strings.HasPrefix(lower, ownTags):
			return nil, fmt.Errorf("the tag %s begins with %s, by which Tabard knows what it made; choose another key", quoted(text), ownTags)
		case utf8.RuneCountInString(key) > longestKey || utf8.RuneCountInString(value) > longestValue:
			return nil, fmt.Errorf("the tag %s is too long; AWS allows %d characters for the key and %d for the value", quoted(text), longestKey, longestValue)
		case twice && was != value:
			return nil, fmt.Errorf("the tag %s is given twice, with the values %s and %s; leave one out", quoted(key), quoted(was), quoted(value))
		}
		out[key] = value
	}
	if len(out) > mostTags {
		return nil, fmt.Errorf("%d tags are given, and there is room for %d; leave some out", len(out), mostTags)
	}
	return out, nil
}

// ownTags begins the keys of the tags by which things are known as Tabard's.
const ownTags = "tabard.dev/"

// The tags of a role and an access entry that Tabard made.
const (
	// HubTag has the ARN of the hub.
	HubTag = ownTags + "hub"
	// ClusterTag has the name and the UID of the ManagedCluster: see OwnerOf.
	ClusterTag = ownTags + "managed-cluster"
	// RoleTag, on an access entry alone, has the unique ID of the role for which it was
	// made. EKS binds an entry to that ID and does not tell it: an entry of a role that
	// was made anew looks right and gives no access.
	RoleTag = ownTags + "role-id"
)

// OwnerOf is the value of ClusterTag: one ManagedCluster, and none of the same name
// before or after it.
func OwnerOf(cluster, uid string) string { return cluster + "/" + uid }
