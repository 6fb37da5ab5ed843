package bundle

import (
	"path"
	"slices"
	"strings"

	"github.com/tabard-dev/tabard/internal/core/catalogue"
	"github.com/tabard-dev/tabard/internal/core/credentials"
	"github.com/tabard-dev/tabard/internal/core/permission"
)

const (
	deploymentsPath = "spec.install.spec.deployments"
	mountIt         = `Mount a projected volume with serviceAccountToken: {audience: openshift, path: token}`
)

// mounts finds requests whose Deployment does not mount the token that the Secret will name.
func (l *linter) mounts(set permission.Set) {
	own, tokens := l.csv.accounts(), l.csv.Spec.Install.Spec.Deployments.Tokens()
	requests, _ := set.Requests()
	for _, r := range requests {
		if r.TokenPath == "" {
			l.find(CodeTokenPath, Warning, "", "the request %s does not set cloudTokenPath, and what the Secret names then depends on the cloud and on what writes it: set it to where the Deployment mounts its token, such as %s",
				catalogue.Quoted(r.Name), credentials.DefaultTokenPath)
			continue
		}
		for _, account := range r.ServiceAccounts {
			if slices.Contains(own, account.Name) {
				l.mount(r, account.Name, tokens)
			}
		}
	}
}

// mount looks for the token of one request in the Deployments that run as a ServiceAccount.
func (l *linter) mount(r permission.Request, account string, tokens []catalogue.Token) {
	var elsewhere []string
	found := false
	for _, t := range tokens {
		switch {
		case t.ServiceAccount != account:
		case t.File != path.Clean(r.TokenPath):
			elsewhere = append(elsewhere, catalogue.Quoted(t.File))
		default:
			found = true
			l.token(r, t)
		}
	}
	if found {
		return
	}
	seen := "no container mounts a token"
	if len(elsewhere) > 0 {
		slices.Sort(elsewhere)
		seen = "its containers mount tokens at " + strings.Join(slices.Compact(elsewhere), ", ")
	}
	l.find(CodeTokenNotMounted, Warning, deploymentsPath, "the request %s says that the token is at %s, and of the Deployment that runs as %s %s. %s at %s, or change cloudTokenPath",
		catalogue.Quoted(r.Name), catalogue.Quoted(r.TokenPath), catalogue.Quoted(account), seen, mountIt, catalogue.Quoted(path.Dir(path.Clean(r.TokenPath))))
}

// token judges a token that is where the request says.
func (l *linter) token(r permission.Request, t catalogue.Token) {
	known := credentials.Audiences(credentials.Target{Kind: credentials.KindSecret})
	switch {
	case t.Audience == "":
		l.find(CodeTokenAudience, Warning, deploymentsPath, "the token at %s has no audience, so it is for the API server, and clouds refuse it: set audience: %s", catalogue.Quoted(t.File), permission.DefaultAudience)
	case r.Cloud() == permission.AWS && !slices.Contains(known, t.Audience):
		l.find(CodeTokenAudience, Warning, deploymentsPath, "the token at %s is for the audience %s, and OIDC providers of clusters know %s: administrators have to add it to theirs. Set audience: %s",
			catalogue.Quoted(t.File), catalogue.Quoted(t.Audience), strings.Join(known, " and "), permission.DefaultAudience)
	}
	if t.BySubPath {
		l.find(CodeTokenFixed, Warning, deploymentsPath, "the token at %s is mounted by subPath, which the kubelet never renews: after an hour or so the cloud refuses it. Mount the whole volume", catalogue.Quoted(t.File))
	}
}
