package awsauth

import (
	"github.com/tabard-dev/tabard/awsauth/identity"
)

// Forget ends the session that an identity's calls are made with, as far as this
// process is concerned: the next call makes a new exchange, at once, also of a
// role that may not be assumed and would not be asked for yet. The sessions that
// it is built on stay. Whoever decides who uses which role calls it for a role
// that nobody uses any more, and for one of which something has changed in AWS.
func (a *Auth) Forget(id identity.Identity) {
	id, err := a.complete(id)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := a.sessionOf(id)
	if session, ok := a.credentials.take(key); ok {
		session.kept.forgotten.Store(true)
	}
	// Those of other regions have the same session.
	a.configs.drop(func(b built) bool { return len(b.credentials) > 0 && b.credentials[len(b.credentials)-1] == key })
}

// Trouble is why the credentials that an identity's calls are made with could not
// be replaced the last time, as an error for fault.Of; nil if they could, or if
// there are none. Calls may go on meanwhile: credentials are used to their end.
func (a *Auth) Trouble(id identity.Identity) error {
	id, err := a.complete(id)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	session, ok := a.credentials.get(a.sessionOf(id), a.now())
	if !ok {
		return nil
	}
	if why := session.kept.trouble.Load(); why != nil {
		return why
	}
	return nil
}

// sessionOf is the key of the session that an identity's calls are made with; the
// caller holds the lock.
func (a *Auth) sessionOf(id identity.Identity) identity.Identity {
	if kept, ok := a.configs.get(id, a.now()); ok && len(kept.credentials) > 0 {
		return kept.credentials[len(kept.credentials)-1]
	}
	return a.exchangeOf(id)
}
