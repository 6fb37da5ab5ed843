package iam

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tabard-dev/tabard/awslocal/internal/partition"
	"github.com/tabard-dev/tabard/iampolicy"
)

// restored is a state that is being made from a snapshot.
type restored struct {
	partition partition.Partition
	accounts  map[string]*account
	// administrators are those that a reset brings back.
	administrators map[string]Key
	keys           map[string]keyOwner
	catalog        map[string]*managed
	// ids are the unique IDs so far.
	ids map[string]bool
}

// Restore checks a snapshot and returns the function that replaces all state
// with it. The snapshot must have the service's accounts, and what it refers to.
func (s *Service) Restore(from Snapshot) (replace func(), err error) {
	if err := s.owns(from); err != nil {
		return nil, err
	}
	r := &restored{
		partition: s.options.Partition, accounts: map[string]*account{}, administrators: map[string]Key{}, keys: map[string]keyOwner{},
		catalog: s.newCatalog(), ids: map[string]bool{},
	}
	for _, name := range slices.Sorted(maps.Keys(from.AWSPolicyIDs)) {
		found := r.catalog[fold(name)]
		if found == nil || found.name != name {
			return nil, fmt.Errorf("AWS's own policy %q is not here", name)
		}
		found.id = from.AWSPolicyIDs[name]
		if err := r.identify(found.id); err != nil {
			return nil, fmt.Errorf("AWS's own policy %s: %w", name, err)
		}
	}
	for _, one := range from.Accounts {
		if err := r.account(one); err != nil {
			return nil, fmt.Errorf("account %s: %w", one.ID, err)
		}
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.accounts, s.keys, s.catalog, s.past = r.accounts, r.keys, r.catalog, past{}
		s.options.Administrators = r.administrators
	}, nil
}

// owns says whether a snapshot has the service's accounts, no more and no fewer.
func (s *Service) owns(from Snapshot) error {
	there := []string{}
	for _, one := range from.Accounts {
		there = append(there, one.ID)
	}
	slices.Sort(there)
	s.mu.Lock()
	defer s.mu.Unlock()
	if here := slices.Sorted(maps.Keys(s.accounts)); !slices.Equal(here, there) {
		return fmt.Errorf("it belongs to the accounts %v, and this server has the accounts %v", there, here)
	}
	return nil
}

// Administrator is the key that an account's administrator has after a reset.
func (s *Service) Administrator(account string) Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.options.Administrators[account]
}

// identify notes a unique ID, which nobody else may have.
func (r *restored) identify(id string) error {
	if id == "" || r.ids[id] {
		return fmt.Errorf("the unique ID %q is empty or another's", id)
	}
	r.ids[id] = true
	return nil
}

func (r *restored) account(from AccountSnapshot) error {
	made := &account{
		home:  home{r.partition, from.ID},
		roles: map[string]*role{}, users: map[string]*user{}, policies: map[string]*managed{}, providers: map[string]*provider{},
	}
	if from.Administrator.ID == "" || from.Administrator.Secret == "" {
		return errors.New("its administrator has no key")
	}
	r.accounts[from.ID], r.administrators[from.ID] = made, from.Administrator
	for _, one := range from.Policies {
		if err := r.managed(made, one); err != nil {
			return fmt.Errorf("policy %q: %w", one.Name, err)
		}
	}
	for _, one := range from.Roles {
		if err := r.role(made, one); err != nil {
			return fmt.Errorf("role %q: %w", one.Name, err)
		}
	}
	for _, one := range from.Users {
		if err := r.user(made, one); err != nil {
			return fmt.Errorf("user %q: %w", one.Name, err)
		}
	}
	for _, one := range from.Providers {
		url := string(one.URL)
		if url == "" || made.providers[url] != nil {
			return fmt.Errorf("OIDC provider %q: its URL is empty or there twice", url)
		}
		made.providers[url] = &provider{
			home: made.home, url: url, created: one.Created, clients: texts[string](one.Clients), thumbprints: one.Thumbprints, tags: one.Tags,
		}
	}
	return nil
}

// checkName checks what ARNs are made of.
func checkName(name, path string) error {
	if !namePattern.MatchString(name) || !pathPattern.MatchString(path) {
		return fmt.Errorf("its name or its path %q is none that IAM takes", path)
	}
	return nil
}

func (r *restored) holder(of *account, kind string, from HolderSnapshot) (holder, error) {
	made := newHolder(of.home, kind, from.Name, from.Path, from.ID, from.Created)
	made.tags = from.Tags
	if err := errors.Join(checkName(from.Name, from.Path), r.identify(from.ID)); err != nil {
		return made, err
	}
	for name, text := range from.Inline {
		policy, err := readDocument(text, iampolicy.IdentityPolicy)
		if err != nil {
			return made, fmt.Errorf("inline policy %q: %w", name, err)
		}
		made.inline[name] = policy
	}
	for _, arn := range from.Attached {
		if made.attached[arn] = r.held(of, arn); made.attached[arn] == nil {
			return made, fmt.Errorf("the policy %s that is attached to it does not exist", arn)
		}
	}
	if from.Boundary == "" {
		return made, nil
	}
	if made.boundary = r.held(of, from.Boundary); made.boundary == nil {
		return made, fmt.Errorf("the policy %s that is its permissions boundary does not exist", from.Boundary)
	}
	return made, nil
}

// held finds a managed policy among those that are restored.
func (r *restored) held(of *account, arn string) *managed { return findManaged(of, r.catalog, arn) }

// readDocument parses a policy as it was parsed when it was written.
func readDocument(text string, kind iampolicy.Kind) (document, error) {
	parsed, fault := parse(text, kind)
	if fault != nil {
		return document{}, fault
	}
	return parsed, nil
}

func (r *restored) role(of *account, from RoleSnapshot) error {
	held, err := r.holder(of, roleKind, from.HolderSnapshot)
	if err != nil {
		return err
	}
	if of.roles[fold(from.Name)] != nil {
		return errors.New("it is there twice")
	}
	if from.MaxSession < minSession || from.MaxSession > maxSession {
		return fmt.Errorf("its sessions may last %d seconds, which IAM does not take", from.MaxSession)
	}
	policy, err := readDocument(from.Trust, iampolicy.TrustPolicy)
	if err != nil {
		return fmt.Errorf("trust policy: %w", err)
	}
	// A user or role that is trusted without its ID would be trusted for its name.
	eachPrincipal(from.Trust, func(kind, name string) string {
		if _, isEntity := entityOf(name); kind == "AWS" && isEntity && from.Trusted[name] == "" {
			err = fmt.Errorf("trust policy: the unique ID of %s is missing", name)
		}
		return name
	})
	of.roles[fold(from.Name)] = &role{
		holder: held, description: from.Description, maxSession: from.MaxSession,
		trust: trust{document: policy, bound: from.Trusted}, used: from.LastUsed, region: string(from.Region),
	}
	return err
}

func (r *restored) user(of *account, from UserSnapshot) error {
	held, err := r.holder(of, userKind, from.HolderSnapshot)
	if err != nil {
		return err
	}
	if of.users[fold(from.Name)] != nil {
		return errors.New("it is there twice")
	}
	made := &user{holder: held}
	for _, one := range from.Keys {
		if _, taken := r.keys[one.ID]; taken || one.ID == "" || one.Secret == "" {
			return fmt.Errorf("the access key %q is there twice, or lacks its ID or secret", one.ID)
		}
		key := &accessKey{Key: one.Key, inactive: one.Inactive, created: one.Created, used: one.LastUsed, service: one.Service, region: string(one.Region)}
		made.keys, r.keys[one.ID] = append(made.keys, key), keyOwner{made, key}
	}
	of.users[fold(from.Name)] = made
	return nil
}

func (r *restored) managed(of *account, from ManagedSnapshot) error {
	made := &managed{
		home: of.home, name: from.Name, path: from.Path, id: from.ID, description: string(from.Description),
		created: from.Created, updated: from.Updated, standard: from.Default, last: from.Last, tags: from.Tags,
	}
	if err := errors.Join(checkName(from.Name, from.Path), r.identify(from.ID)); err != nil {
		return err
	}
	if of.policies[fold(from.Name)] != nil {
		return errors.New("it is there twice")
	}
	if len(from.Versions) > maxVersions {
		return fmt.Errorf("it has %d versions, and may have %d", len(from.Versions), maxVersions)
	}
	for _, one := range from.Versions {
		policy, err := readDocument(one.Text, iampolicy.ManagedPolicy)
		if err != nil {
			return fmt.Errorf("version %d: %w", one.Number, err)
		}
		if one.Number < 1 || one.Number > from.Last || made.index(one.Number) >= 0 {
			return fmt.Errorf("version %d is there twice, or after the last, %d", one.Number, from.Last)
		}
		made.versions = append(made.versions, policyVersion{number: one.Number, created: one.Created, document: policy})
	}
	if made.index(made.standard) < 0 {
		return fmt.Errorf("its default version %d does not exist", made.standard)
	}
	of.policies[fold(from.Name)] = made
	return nil
}
